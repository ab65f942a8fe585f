package kubestate

import (
	"context"
	"fmt"
	"strings"
	"sync"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// object is what the shelf needs of a pointer to an API type.
type object[T any] interface {
	*T
	meta.Object
	DeepCopy() *T
}

// shelf keeps objects with the API server's optimistic concurrency.
type shelf[T any, P object[T]] struct {
	mu    sync.Mutex
	items map[string]P
	n     int
	// fail is asked before each write.
	fail func(verb, name string) error
	// after is asked after each write: its error is the caller's, the write stays.
	after func(verb, name string) error
}

var kind = schema.GroupResource{Resource: "things"}

func (s *shelf[T, P]) write(verb, name string) error {
	if s.items == nil {
		s.items = map[string]P{}
	}
	if s.fail != nil {
		return s.fail(verb, name)
	}
	return nil
}

func (s *shelf[T, P]) get(name string) (*T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := s.items[name]; ok {
		return o.DeepCopy(), nil
	}
	return nil, apierrors.NewNotFound(kind, name)
}

func (s *shelf[T, P]) put(verb string, o P) (*T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := o.GetName()
	if err := s.write(verb, name); err != nil {
		return nil, err
	}
	old, ok := s.items[name]
	switch {
	case verb == "create" && ok:
		return nil, apierrors.NewAlreadyExists(kind, name)
	case verb == "update" && !ok:
		return nil, apierrors.NewNotFound(kind, name)
	case ok && o.GetResourceVersion() != "" && o.GetResourceVersion() != old.GetResourceVersion():
		return nil, apierrors.NewConflict(kind, name, fmt.Errorf("version"))
	}
	s.n++
	keep := P(o.DeepCopy())
	keep.SetResourceVersion(fmt.Sprint(s.n))
	keep.SetUID(types.UID("uid-" + name))
	s.items[name] = keep
	if s.after != nil {
		if err := s.after(verb, name); err != nil {
			return nil, err
		}
	}
	return keep.DeepCopy(), nil
}

func (s *shelf[T, P]) names() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for n := range s.items {
		out = append(out, n)
	}
	return strings.Join(out, " ")
}

type secrets struct {
	shelf[core.Secret, *core.Secret]
}

func (s *secrets) Get(_ context.Context, name string, _ meta.GetOptions) (*core.Secret, error) {
	return s.get(name)
}

func (s *secrets) Create(_ context.Context, o *core.Secret, _ meta.CreateOptions) (*core.Secret, error) {
	return s.put("create", o)
}

func (s *secrets) Update(_ context.Context, o *core.Secret, _ meta.UpdateOptions) (*core.Secret, error) {
	return s.put("update", o)
}

func (s *secrets) DeleteCollection(_ context.Context, _ meta.DeleteOptions, l meta.ListOptions) error {
	sel, err := labels.Parse(l.LabelSelector)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.write("delete", ""); err != nil {
		return err
	}
	for n, o := range s.items {
		if sel.Matches(labels.Set(o.Labels)) {
			delete(s.items, n)
		}
	}
	return nil
}

type leases struct {
	shelf[coordination.Lease, *coordination.Lease]
}

func (s *leases) Get(_ context.Context, name string, _ meta.GetOptions) (*coordination.Lease, error) {
	return s.get(name)
}

func (s *leases) Create(_ context.Context, o *coordination.Lease, _ meta.CreateOptions) (*coordination.Lease, error) {
	return s.put("create", o)
}

func (s *leases) Update(_ context.Context, o *coordination.Lease, _ meta.UpdateOptions) (*coordination.Lease, error) {
	return s.put("update", o)
}

func (s *leases) Delete(_ context.Context, name string, o meta.DeleteOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.write("delete", name); err != nil {
		return err
	}
	old, ok := s.items[name]
	switch {
	case !ok:
		return apierrors.NewNotFound(kind, name)
	case o.Preconditions != nil && *o.Preconditions.ResourceVersion != old.ResourceVersion:
		return apierrors.NewConflict(kind, name, fmt.Errorf("version"))
	}
	delete(s.items, name)
	if s.after != nil {
		return s.after("delete", name)
	}
	return nil
}
