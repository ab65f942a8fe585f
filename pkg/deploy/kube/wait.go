package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// The pauses between two looks at an object grow from firstLook to lastLook where no watch makes
// them shorter; its pods, events and logs are looked at every podLook at most.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = 2 * time.Second
	podLook   = 2 * time.Second
	// behindLook is how often the Deployment behind a Gateway is looked at: no event of the Gateway tells of it.
	behindLook = 500 * time.Millisecond
)

// unauthorized is how many looks in all may come back with a 401: a credential plugin is asked
// for a new token after the first, and who has none then will not get one by waiting.
const unauthorized = 3

// defaultTimeout is how long an object may take when its block sets no timeout.
func defaultTimeout(kind string, gone bool) time.Duration {
	switch {
	case gone:
		return 10 * time.Minute // pods of the scheduler have 130 s of grace, engines free 8 GPUs each
	case kind == "InferenceService" || kind == "LeaderWorkerSet":
		return 30 * time.Minute // a cold start of a 671B model reads 700 GB
	}
	return 10 * time.Minute
}

func timeout(r deploy.Request, id resource.ID) time.Duration {
	var o resource.Options
	switch {
	case r.Want != nil:
		o = r.Want.Options
	case r.Prior != nil:
		o = r.Prior.Options
	}
	t := o.CreateTimeout
	switch {
	case r.Gone:
		t = o.DeleteTimeout
	case r.Seen.Exists && !r.Replace && o.UpdateTimeout > 0:
		t = o.UpdateTimeout
	}
	if t == 0 {
		t = defaultTimeout(id.Kind, r.Gone)
	}
	return t
}

// Wait implements deploy.Driver. It looks with growing pauses, which a watch ends early, so that a
// cut connection costs one look and not the wait. The error of a wait that ran out carries the
// last reason.
func (d *Driver) Wait(ctx context.Context, r deploy.Request, report func(plan.Readiness)) error {
	id := queryID(r.Query)
	if r.Gone {
		return d.waitGone(ctx, id, uidToLose(r), timeout(r, id), report)
	}
	var own *resource.Wait
	if r.Want != nil {
		own = r.Want.Options.Wait
	}
	g := &diagnosis{driver: d, first: map[string]time.Time{}}
	f := d.follow(id, resultUID(r), false)
	f.idle = podLook
	if id.Kind == "Gateway" {
		f.idle = behindLook
	}
	defer f.close()
	var nextPods time.Time
	return d.poll(ctx, id, timeout(r, id), report, f.rest, func(ctx context.Context) (plan.Readiness, error) {
		live, err := f.look(ctx)
		if err != nil {
			return plan.Readiness{}, err
		}
		if live == nil {
			return notYet("does not exist"), nil
		}
		if metaString(live, "deletionTimestamp") != "" {
			return doomed("%s", terminatingReason(live)), nil
		}
		verdict, err := d.whole(ctx, id, live, own)
		if err != nil {
			return verdict, err
		}
		if verdict.Ready || d.now().Before(nextPods) {
			return verdict, nil
		}
		nextPods = d.now().Add(podLook)
		if id.Kind == "PersistentVolumeClaim" && d.waitsForConsumer(ctx, live) {
			return ready("waits for its first consumer"), nil
		}
		pods, err := g.look(ctx, id, live)
		if err != nil {
			return verdict, err
		}
		if verdict.Failed && !pods.Failed {
			if g.worst != nil {
				verdict.Detail = append(append(verdict.Detail, pods.Reason), g.detail(ctx, *g.worst)...)
			}
			return verdict, nil
		}
		if pods.Reason != "" {
			return pods, nil
		}
		return verdict, nil
	})
}

// waitsForConsumer tells that a claim will be bound only when a pod uses it: waiting for it
// first would never end. Events that cannot be read say nothing.
func (d *Driver) waitsForConsumer(ctx context.Context, claim map[string]any) bool {
	events, err := d.Events(ctx, metaString(claim, "namespace"), metaString(claim, "uid"))
	return err == nil && slices.ContainsFunc(events, func(e Event) bool { return e.Reason == "WaitForFirstConsumer" })
}

// resultUID is the incarnation that an apply has just made or changed, "" when it is not known.
func resultUID(r deploy.Request) string {
	if r.Prior == nil {
		return ""
	}
	return r.Prior.UID
}

func uidToLose(r deploy.Request) string {
	switch {
	case r.Seen.UID != "":
		return r.Seen.UID
	case r.Prior != nil:
		return r.Prior.UID
	}
	return ""
}

// waitGone waits until the object, or at least the incarnation with that UID, is absent.
func (d *Driver) waitGone(ctx context.Context, id resource.ID, uid string, limit time.Duration, report func(plan.Readiness)) error {
	f := d.follow(id, uid, true)
	defer f.close()
	return d.poll(ctx, id, limit, report, f.rest, func(ctx context.Context) (plan.Readiness, error) {
		live, err := f.look(ctx)
		switch {
		case err != nil:
			return plan.Readiness{}, err
		case live == nil, uid != "" && metaString(live, "uid") != uid:
			return ready(""), nil
		case metaString(live, "deletionTimestamp") == "":
			return notYet("still there, deletion was not asked for"), nil
		}
		return notYet("%s", terminatingReason(live)), nil
	})
}

// poll looks until ready, doomed or out of time, and rests between two looks. A failed look is
// tolerated as long as the server may come back; a refusal is not.
func (d *Driver) poll(
	ctx context.Context, id resource.ID, limit time.Duration, report func(plan.Readiness),
	rest func(context.Context, time.Duration), look func(context.Context) (plan.Readiness, error),
) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last plan.Readiness
	refused := 0
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		verdict, err := look(bounded)
		switch {
		case err != nil && bounded.Err() != nil:
		case errors.Is(err, deploy.ErrForbidden):
			return err
		case apierrors.IsUnauthorized(err):
			if refused++; refused == unauthorized {
				return err
			}
			verdict = plan.Readiness{Reason: err.Error(), Since: last.Since}
		case err != nil:
			verdict = plan.Readiness{Reason: err.Error(), Since: last.Since}
		case verdict.Ready:
			return nil
		}
		if err == nil || bounded.Err() == nil {
			if verdict.Reason != last.Reason && report != nil {
				report(verdict)
			}
			last = verdict
		}
		if last.Failed {
			return notReady(id, last, "")
		}
		if rest(bounded, pause); bounded.Err() != nil {
			return d.outOfTime(ctx, id, last, limit)
		}
	}
}

// holdersLimit bounds the look at what keeps a namespace, after the time for its removal is over.
const holdersLimit = 15 * time.Second

// outOfTime is the error of a wait that ended by the driver's own limit, by the caller's (the
// block's timeouts, which the cause names) or by an interrupt.
func (d *Driver) outOfTime(ctx context.Context, id resource.ID, last plan.Readiness, limit time.Duration) error {
	how := "after " + limit.String()
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("%w: %w", notReady(id, last, "interrupted"), ctx.Err())
	case ctx.Err() != nil:
		how = context.Cause(ctx).Error()
	}
	if id.Kind == "Namespace" && strings.HasPrefix(last.Reason, "being deleted") {
		look, cancel := context.WithTimeout(context.WithoutCancel(ctx), holdersLimit)
		defer cancel()
		last.Detail = append(last.Detail, d.holders(look, id.Name)...)
	}
	return notReady(id, last, how)
}

// notReady is the error of a wait that ended badly: the reason on its first line, events and
// log lines on the others.
func notReady(id resource.ID, last plan.Readiness, how string) error {
	if last.Reason == "" {
		last.Reason = "nothing was seen of it"
	}
	text := last.Reason
	if how != "" {
		text = how + ": " + text
	}
	for _, l := range last.Detail {
		text += "\n  " + l
	}
	return fmt.Errorf("%s: %w: %s", id, deploy.ErrNotReady, text)
}
