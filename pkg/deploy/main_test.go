package deploy_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No goroutine outlives Observe, Apply and Destroy.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
