package cli

import "context"

// interruptible derives two contexts: soft ends at the first interrupt, hard at the second.
// stop releases the watcher.
func interruptible(ctx context.Context, env Env) (soft, hard context.Context, stop func()) {
	hard, cancelHard := context.WithCancel(ctx)
	soft, cancelSoft := context.WithCancel(hard)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-env.Interrupts:
			}
			if soft.Err() == nil {
				cancelSoft()
				continue
			}
			cancelHard()
		}
	}()
	return soft, hard, func() {
		close(done)
		cancelSoft()
		cancelHard()
	}
}
