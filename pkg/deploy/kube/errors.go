package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

func overloaded(err error) bool {
	return !isWebhookFailure(err) && (apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) ||
		apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err))
}

func isCut(err error) bool {
	return utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err) || isTorn(err)
}

// isTorn tells that an answer began and did not end, or that its HTTP/2 stream was reset. The client
// below repeats neither, not even for reads. (Two HTTP/2 packages have a type of their own for a
// stream error; their text is the same.)
func isTorn(err error) bool {
	return err != nil && (errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "stream error: stream ID"))
}

func isNotFound(err error) bool { return apierrors.IsNotFound(err) }

// isNamespaceMissing tells a 404 for the object's namespace from one for the object.
func isNamespaceMissing(err error) bool {
	s := status(err)
	return s != nil && s.Reason == metav1.StatusReasonNotFound && s.Details != nil && s.Details.Kind == "namespaces"
}

func isWebhookFailure(err error) bool {
	return err != nil && strings.Contains(err.Error(), "failed calling webhook")
}

// isDenied tells the verdict of a webhook, which also comes as a 403, from a missing right.
func isDenied(err error) bool {
	return err != nil && strings.Contains(err.Error(), "admission webhook") && strings.Contains(err.Error(), "denied the request")
}

func status(err error) *metav1.Status {
	var s apierrors.APIStatus
	if !errors.As(err, &s) {
		return nil
	}
	st := s.Status()
	return &st
}

// explain wraps a failure of the API with the object, the sentinel of its class and,
// where we know one, the way out.
func (d *Driver) explain(op string, id resource.ID, err error) error {
	what := fmt.Sprintf("%s %s", op, id)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", what, err)
	case namespaceTerminating(err):
		return fmt.Errorf("%s: namespace %s is being deleted; wait until it is gone and apply again: %w", what, id.Namespace, err)
	case isNamespaceMissing(err):
		return fmt.Errorf("%s: namespace %s does not exist and no earlier block brings it; add a namespace block and refer to its name: %w", what, id.Namespace, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s: %s does not accept the credentials of context %q (401); log in again: %w", what, d.cluster.Server, d.cluster.Context, err)
	case isDenied(err):
		return fmt.Errorf("%s: the cluster's admission refuses the object: %w", what, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s: %w: %w", what, deploy.ErrForbidden, err)
	case apierrors.IsConflict(err):
		return explainConflict(what, err)
	case isWebhookFailure(err):
		return fmt.Errorf("%s: an admission webhook of the cluster does not answer; check its Deployment and certificates: %w", what, err)
	case status(err) == nil:
		return fmt.Errorf("%s: %w", what, d.unreachable(err))
	}
	return fmt.Errorf("%s: %w", what, err)
}

func (d *Driver) unreachable(err error) error {
	where := d.cluster.Server
	if d.cluster.Context != "" {
		where += fmt.Sprintf(" (context %q of %s)", d.cluster.Context, d.cluster.Kubeconfig)
	}
	switch {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server %s does not accept the credentials (401): %w", where, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("the API server %s: %w: %w", where, deploy.ErrForbidden, err)
	}
	return fmt.Errorf("no usable answer from the API server %s: %w", where, err)
}

func explainConflict(what string, err error) error {
	list := conflicts(err)
	if len(list) == 0 {
		return fmt.Errorf("%s: %w: %w", what, deploy.ErrChanged, err)
	}
	lines := make([]string, len(list))
	for i, c := range list {
		lines[i] = c.Field + " → " + c.Manager
	}
	return fmt.Errorf("%s: %w: %s; drop the field, ignore it in lifecycle, or set force_conflicts", what, deploy.ErrConflict, strings.Join(lines, ", "))
}

// conflicts reads the field → manager list of a 409 to a server-side apply.
func conflicts(err error) []plan.Conflict {
	s := status(err)
	if s == nil || s.Details == nil {
		return nil
	}
	manager := regexp.MustCompile(`conflict with "([^"]+)"`)
	var out []plan.Conflict
	for _, c := range s.Details.Causes {
		if c.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		m := manager.FindStringSubmatch(c.Message)
		if m == nil {
			m = []string{"", c.Message}
		}
		out = append(out, plan.Conflict{Field: c.Field, Manager: m[1]})
	}
	return out
}

func namespaceTerminating(err error) bool {
	s := status(err)
	if s == nil || s.Details == nil {
		return false
	}
	for _, c := range s.Details.Causes {
		if c.Type == "NamespaceTerminating" {
			return true
		}
	}
	return false
}
