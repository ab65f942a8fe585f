package reconcile

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

// Key names the object that a controller is to look at again.
type Key = types.NamespacedName

// Func makes the world agree with the object at key; it is called again after an error, later and later.
type Func func(ctx context.Context, key Key) error

// Loop calls a Func for every key added, one at a time, several additions of a waiting key being one call.
type Loop struct {
	name  string
	queue workqueue.TypedRateLimitingInterface[Key]
	f     Func
	log   func(format string, args ...any)
}

// NewLoop names the loop for the log.
func NewLoop(name string, log func(format string, args ...any), f Func) *Loop {
	limit := workqueue.NewTypedItemExponentialFailureRateLimiter[Key](50*time.Millisecond, 10*time.Second)
	return &Loop{name: name, queue: workqueue.NewTypedRateLimitingQueue(limit), f: f, log: log}
}

// Add asks for a call; it never blocks.
func (l *Loop) Add(namespace, name string) { l.queue.Add(Key{Namespace: namespace, Name: name}) }

// AddAfter asks for a call after a time.
func (l *Loop) AddAfter(key Key, d time.Duration) { l.queue.AddAfter(key, d) }

// Run works until ctx ends.
func (l *Loop) Run(ctx context.Context) {
	stop := context.AfterFunc(ctx, l.queue.ShutDown)
	defer stop()
	for {
		key, shutdown := l.queue.Get()
		if shutdown {
			return
		}
		err := l.f(ctx, key)
		l.queue.Done(key)
		if err == nil {
			l.queue.Forget(key)
			continue
		}
		if ctx.Err() == nil && !ordinary(err) {
			l.log("%s: %s: %v", l.name, key, err)
		}
		l.queue.AddRateLimited(key)
	}
}

// ordinary tells whether an error is part of everyday life: somebody else was faster, and the retry sees the newer object,
// or the namespace is on its way out.
func ordinary(err error) bool {
	return errors.IsConflict(err) || errors.IsNotFound(err) || errors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
