package kubestate

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// attempts and firstPause bound the repetition of one step.
const (
	attempts   = 4
	firstPause = 200 * time.Millisecond
)

// retry repeats a step whose failure says nothing about the step: a cut connection, a busy or
// restarting server. The step must look first whether an earlier attempt was done all the same.
func retry(ctx context.Context, step func() error) error {
	pause := firstPause
	for n := 1; ; n++ {
		err := step()
		if err == nil || n == attempts || ctx.Err() != nil || !passing(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		pause *= 3
	}
}

func passing(err error) bool {
	return apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) ||
		apierrors.IsTooManyRequests(err) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err) ||
		err != nil && (errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "stream error: stream ID"))
}
