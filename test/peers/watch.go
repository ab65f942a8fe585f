//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// sample is one look at the server and at the tool's processes.
type sample struct {
	at                time.Time
	running, received float64 // requests
	tokens            float64
	cpu               time.Duration // of all processes of the tool that live
	memory            int64         // proportional set size, bytes; 0 when not looked at
	err               error
}

// watch samples until ctx ends, five times a second.
func watch(ctx context.Context, url string, root int, out chan<- sample) {
	defer close(out)
	t := time.NewTicker(200 * time.Millisecond)
	defer t.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		s := serverSample(ctx, url)
		s.cpu, s.memory = processes(root, i%10 == 0)
		select {
		case out <- s:
		case <-ctx.Done():
			return
		}
	}
}

// serverSample reads the server's own counts.
func serverSample(ctx context.Context, url string) sample {
	s := sample{at: time.Now()}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/metrics", http.NoBody)
	if err != nil {
		return sample{err: err}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return sample{err: err}
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return sample{err: err}
	}
	s.at = s.at.Add(time.Since(s.at) / 2)
	s.running = metric(b, "vllm:num_requests_running")
	s.received = s.running + metric(b, "vllm:num_requests_waiting") + metric(b, "vllm:request_success_total")
	s.tokens = metric(b, "vllm:generation_tokens_total")
	return s
}

// metric sums the lines of one metric.
func metric(text []byte, name string) float64 {
	sum := 0.0
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if !strings.HasPrefix(line, name+"{") {
			continue
		}
		if v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64); err == nil {
			sum += v
		}
	}
	return sum
}

// processes sums CPU time and, when asked, memory over a process and its descendants.
func processes(root int, memory bool) (cpu time.Duration, bytes int64) {
	for _, pid := range family(root) {
		for _, ticks := range stat(pid)[11:13] {
			n, _ := strconv.ParseInt(ticks, 10, 64)
			cpu += time.Duration(n) * 10 * time.Millisecond // USER_HZ is 100 on all Linux
		}
		if memory {
			bytes += share(pid)
		}
	}
	return cpu, bytes
}

// family is a process with all that descend from it. (A session of its own would be
// simpler to find, but the kernel's scheduler treats it as a group of its own, too.)
func family(root int) []int {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, d := range dirs {
		if pid, err := strconv.Atoi(d.Name()); err == nil {
			parent, _ := strconv.Atoi(stat(pid)[1])
			children[parent] = append(children[parent], pid)
		}
	}
	all := []int{root}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// stat are the fields of /proc/PID/stat behind the name, which may hold anything; all
// empty when the process is gone.
func stat(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if err != nil || len(f) < 13 {
		return make([]string, 13)
	}
	return f
}

// share is a process's proportional set size: pages that several share count once.
func share(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(b), "\n") {
		var kb int64
		if n, _ := fmt.Sscanf(line, "Pss: %d kB", &kb); n == 1 {
			return kb << 10
		}
	}
	return 0
}
