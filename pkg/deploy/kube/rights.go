package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	authv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Right is one thing that a user may be allowed to do: the fields of a SelfSubjectAccessReview.
type Right struct {
	Verb, Group, Resource, Subresource string
	// Namespace is "" for what lives in none, or for all namespaces.
	Namespace string
	// Name is "" for all objects.
	Name string
}

// reviewers is how many reviews are asked for at a time.
const reviewers = 8

// Allowed tells which rights the user of this connection has, in their order. The server's
// authorizers are asked for all rights at once, which settles it for an administrator; for
// others the rules of each namespace, one request each, show what is granted, and only what
// they do not show is asked for right by right: the rules need not be complete.
func (d *Driver) Allowed(ctx context.Context, rights []Right) ([]bool, error) {
	out := make([]bool, len(rights))
	all, err := d.review(ctx, Right{Verb: "*", Group: "*", Resource: "*"})
	if err != nil {
		return nil, err
	}
	if all {
		for i := range out {
			out[i] = true
		}
		return out, nil
	}
	rules, err := d.rules(ctx, rights)
	if err != nil {
		return nil, err
	}
	errs := make([]error, len(rights))
	var wg sync.WaitGroup
	slot := make(chan struct{}, reviewers)
	for i, r := range rights {
		if out[i] = slices.ContainsFunc(rules[r.Namespace], func(rule authv1.ResourceRule) bool { return grants(rule, r) }); out[i] {
			continue
		}
		wg.Go(func() {
			slot <- struct{}{}
			defer func() { <-slot }()
			out[i], errs[i] = d.review(ctx, r)
		})
	}
	wg.Wait()
	return out, errors.Join(errs...)
}

// review asks for one right.
func (d *Driver) review(ctx context.Context, r Right) (bool, error) {
	ask := &authv1.SelfSubjectAccessReview{Spec: authv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authv1.ResourceAttributes{
		Verb: r.Verb, Group: r.Group, Resource: r.Resource, Subresource: r.Subresource, Namespace: r.Namespace, Name: r.Name,
	}}}
	var answer *authv1.SelfSubjectAccessReview
	err := d.retry(ctx, func(ctx context.Context) (err error) {
		answer, err = d.typed.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, ask, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("review of the user's own rights: %w", d.unreachable(err))
	}
	return answer.Status.Allowed, nil
}

// rules are those of each namespace among the rights. What holds in one namespace need not hold
// in the whole cluster, so for that there are none.
func (d *Driver) rules(ctx context.Context, rights []Right) (map[string][]authv1.ResourceRule, error) {
	out := map[string][]authv1.ResourceRule{}
	for _, r := range rights {
		if _, asked := out[r.Namespace]; asked || r.Namespace == "" {
			continue
		}
		ask := &authv1.SelfSubjectRulesReview{Spec: authv1.SelfSubjectRulesReviewSpec{Namespace: r.Namespace}}
		var answer *authv1.SelfSubjectRulesReview
		err := d.retry(ctx, func(ctx context.Context) (err error) {
			answer, err = d.typed.AuthorizationV1().SelfSubjectRulesReviews().Create(ctx, ask, metav1.CreateOptions{})
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("review of the user's own rights in namespace %s: %w", r.Namespace, d.unreachable(err))
		}
		out[r.Namespace] = answer.Status.ResourceRules
	}
	return out, nil
}

// grants tells whether a rule covers a right.
func grants(rule authv1.ResourceRule, r Right) bool {
	has := func(list []string, want string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, want)
	}
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	if len(rule.ResourceNames) > 0 && (r.Name == "" || !slices.Contains(rule.ResourceNames, r.Name)) {
		return false
	}
	covers := has(rule.Resources, resource) || r.Subresource != "" && slices.Contains(rule.Resources, "*/"+r.Subresource)
	return covers && has(rule.Verbs, r.Verb) && has(rule.APIGroups, r.Group)
}
