package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/metrics"
	"github.com/mifbench/mifbench/pkg/deploy/kube"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

// rank is one engine port of one pod.
type rank struct {
	pod  kube.Pod
	port int
}

// probe asks every rank of every instance for its health, since a pod is Ready when its
// first rank is. Pods are reached through the API server.
func (a *app) probe(ctx context.Context, t *site) error {
	ranks, err := t.ranks(ctx)
	if err != nil || len(ranks) == 0 {
		return err
	}
	a.say("Probing %d ranks of %d engine pods …", len(ranks), len(t.pods))
	failures := make([]error, len(ranks))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 8)
	for i, r := range ranks {
		wg.Add(1)
		go func() {
			defer wg.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			failures[i] = healthy(ctx, t.stack.kube, r)
		}()
	}
	wg.Wait()
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("the data plane is not complete; a run would measure less than the stack:\n%w", err)
	}
	return nil
}

// ranks are the target ports of the pools times the pods of the services.
func (t *site) ranks(ctx context.Context) ([]rank, error) {
	ports := []int{8000}
	for _, r := range t.stack.cfg.Resources {
		if h, ok := r.Options.(*kinds.Heimdall); ok && len(h.TargetPorts) > 0 {
			ports = ports[:0]
			for _, p := range h.TargetPorts {
				ports = append(ports, int(p))
			}
		}
	}
	var out []rank
	for _, r := range t.stack.cfg.Resources {
		if _, ok := r.Options.(*kinds.InferenceService); !ok {
			continue
		}
		for _, o := range r.Objects {
			pods, err := t.stack.kube.PodsOf(ctx, o.ID)
			if err != nil {
				return nil, err
			}
			t.pods = append(t.pods, pods...)
			for _, p := range pods {
				for _, port := range ports {
					out = append(out, rank{p, port})
				}
			}
		}
	}
	return out, nil
}

func healthy(ctx context.Context, driver *kube.Driver, r rank) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	addr, stop, err := driver.PortForward(ctx, r.pod.Namespace, r.pod.Name, r.port)
	if err != nil {
		return fmt.Errorf("pod %s port %d: %w", r.pod.Name, r.port, err)
	}
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/health", http.NoBody)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("pod %s port %d: GET /health: %w", r.pod.Name, r.port, err)
	}
	defer resp.Body.Close() //nolint:errcheck // nothing was written
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("pod %s port %d: GET /health answered %s", r.pod.Name, r.port, resp.Status)
	}
	return nil
}

// scale counts the nodes that engines run on, by role.
func (t *site) scale() metrics.Units {
	nodes := map[string]map[string]bool{}
	all := map[string]bool{}
	for _, p := range t.pods {
		role := p.Labels["mif.moreh.io/role"]
		if nodes[role] == nil {
			nodes[role] = map[string]bool{}
		}
		nodes[role][p.Node], all[p.Node] = true, true
	}
	return metrics.Units{Nodes: len(all), PrefillNodes: len(nodes[kinds.RolePrefill]), DecodeNodes: len(nodes[kinds.RoleDecode])}
}

// restarted names engine pods that are not what they were when the run began.
func (t *site) restarted(ctx context.Context) ([]string, error) {
	if t.stack == nil || len(t.pods) == 0 {
		return nil, nil
	}
	now := &site{stack: t.stack}
	if _, err := now.ranks(ctx); err != nil {
		return nil, err
	}
	after := map[string]kube.Pod{}
	for _, p := range now.pods {
		after[p.Name] = p
	}
	var out []string
	for _, p := range t.pods {
		switch q, ok := after[p.Name]; {
		case !ok:
			out = append(out, fmt.Sprintf("engine pod %s is gone", p.Name))
		case q.UID != p.UID:
			out = append(out, fmt.Sprintf("engine pod %s was replaced during the run", p.Name))
		case q.Restarts != p.Restarts:
			out = append(out, fmt.Sprintf("engine pod %s restarted %d times during the run", p.Name, q.Restarts-p.Restarts))
		}
	}
	return out, nil
}
