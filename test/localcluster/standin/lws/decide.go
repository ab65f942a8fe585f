package lws

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

// actions is what is to be done now.
type actions struct {
	create, remove []*corev1.Pod
	events         []event
}

type event struct{ reason, message string }

// group is the pods that exist of one replica.
type group struct {
	index int
	pods  []*corev1.Pod
}

// groups sorts pods into the replicas that should exist and the rest.
func groups(s *set, pods []*corev1.Pod) (wanted []group, surplus []*corev1.Pod) {
	wanted = make([]group, s.Replicas)
	for i := range wanted {
		wanted[i].index = i
	}
	for _, p := range pods {
		g, errG := strconv.Atoi(p.Labels[groupLabel])
		w, errW := strconv.Atoi(p.Labels[workerLabel])
		if errG != nil || errW != nil || g < 0 || g >= s.Replicas || w >= s.LeaderWorkerTemplate.Size {
			surplus = append(surplus, p)
			continue
		}
		wanted[g].pods = append(wanted[g].pods, p)
	}
	return wanted, surplus
}

func (g group) ready(s *set) bool {
	for _, p := range g.pods {
		if !reconcile.PodReady(p) {
			return false
		}
	}
	return len(g.pods) == s.LeaderWorkerTemplate.Size
}

func (g group) current(s *set) bool {
	for _, p := range g.pods {
		if p.Labels[hashLabel] != s.hash {
			return false
		}
	}
	return len(g.pods) == s.LeaderWorkerTemplate.Size
}

// outdated tells whether a pod of an older template is still there and not yet on its way out.
func (g group) outdated(s *set) bool {
	for _, p := range g.pods {
		if p.Labels[hashLabel] != s.hash && p.DeletionTimestamp == nil {
			return true
		}
	}
	return false
}

// broken names a pod that has ended, or that has restarted where the policy is to start the whole group again.
func (g group) broken(s *set) string {
	for _, p := range g.pods {
		if p.DeletionTimestamp != nil {
			continue
		}
		if p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
			return p.Name
		}
		if s.LeaderWorkerTemplate.RestartPolicy != "RecreateGroupOnPodRestart" {
			continue
		}
		for _, c := range append(append([]corev1.ContainerStatus{}, p.Status.InitContainerStatuses...), p.Status.ContainerStatuses...) {
			if c.RestartCount > 0 {
				return p.Name
			}
		}
	}
	return ""
}

// decide compares a set with its pods. A pod is only created once its predecessor of the same name is gone: with all
// devices of the nodes in use there would be no room for both.
func decide(s *set, pods []*corev1.Pod) actions {
	var a actions
	all, surplus := groups(s, pods)
	a.delete(surplus)
	budget := s.maxUnavailable()
	for _, g := range all {
		if !g.ready(s) {
			budget--
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		g := all[i]
		if name := g.broken(s); name != "" {
			a.delete(g.pods)
			a.events = append(a.events, event{"RecreateGroupOnPodRestart", fmt.Sprintf("pod %s restarted or ended; recreating group %d", name, g.index)})
			continue
		}
		if g.outdated(s) && (!g.ready(s) || budget > 0) {
			if g.ready(s) {
				budget--
			}
			a.delete(g.pods)
			a.events = append(a.events, event{"GroupsUpdating", fmt.Sprintf("replacing group %d", g.index)})
		}
	}
	for _, g := range all {
		a.fill(s, g)
	}
	return a
}

func (a *actions) delete(pods []*corev1.Pod) {
	for _, p := range pods {
		if p.DeletionTimestamp == nil {
			a.remove = append(a.remove, p)
		}
	}
}

// fill creates the pods of a group of which not even a dying one is left.
func (a *actions) fill(s *set, g group) {
	have := map[string]bool{}
	for _, p := range g.pods {
		have[p.Name] = true
	}
	for w := range s.LeaderWorkerTemplate.Size {
		if p := s.pod(g.index, w); !have[p.Name] {
			a.create = append(a.create, p)
		}
	}
}
