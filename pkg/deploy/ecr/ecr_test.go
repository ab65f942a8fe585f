package ecr

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

const registry = "255250787067.dkr.ecr.ap-northeast-2.amazonaws.com"

// store keeps one Secret as the Kubernetes driver would.
type store struct{ live map[string]any }

func (s *store) Get(context.Context, resource.ID) (map[string]any, error) { return s.live, nil }
func (s *store) Apply(_ context.Context, r deploy.Request) (deploy.Result, error) {
	created := s.live == nil
	s.live = r.Want.Spec
	s.live["metadata"].(map[string]any)["annotations"].(map[string]any)[ownerAnnotation] = r.Stack
	return deploy.Result{UID: "u", Created: created}, nil
}
func (s *store) Wait(context.Context, deploy.Request, func(plan.Readiness)) error { return nil }
func (s *store) Delete(context.Context, deploy.Request) error                     { s.live = nil; return nil }

func query(s resource.CredentialSpec) deploy.Query {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	var spec map[string]any
	if err := json.Unmarshal(text, &spec); err != nil {
		panic(err)
	}
	return deploy.Query{Stack: "s1", Salt: "salt", Want: &resource.Object{
		ID:   resource.ID{Driver: resource.DriverECR, APIVersion: "v1", Kind: "Secret", Namespace: "ns", Name: "moreh-registry"},
		Spec: spec,
	}}
}

func awsSpec() resource.CredentialSpec {
	return resource.CredentialSpec{Mode: resource.CredentialAWS, Registry: registry, Region: "ap-northeast-2"}
}

// endpoint plays ECR: the answers are given one after the other, the last for ever.
func endpoint(t *testing.T, answers ...func(http.ResponseWriter)) string {
	t.Helper()
	for k, v := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "dummy", "AWS_MAX_ATTEMPTS": "2",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(k, v)
	}
	n := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Authorization"), "ap-northeast-2/ecr/") {
			t.Errorf("signature scope: %q", r.Header.Get("Authorization"))
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		answers[min(n, len(answers)-1)](w)
		n++
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func token(secret string, expires time.Time) func(http.ResponseWriter) {
	auth := base64.StdEncoding.EncodeToString([]byte("AWS:" + secret))
	return func(w http.ResponseWriter) {
		fmt.Fprintf(w, `{"authorizationData":[{"authorizationToken":%q,"expiresAt":%d}]}`, auth, expires.Unix())
	}
}

func refusal(code int, kind string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"__type":%q,"message":"no"}`, kind)
	}
}

func observe(t *testing.T, d *Driver, q deploy.Query) plan.Observation {
	t.Helper()
	obs, err := d.Observe(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(obs); strings.Contains(text, "top-secret") || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte("AWS:top-secret"))) {
		t.Fatalf("the credential shows: %s", text)
	}
	return obs
}

func TestTokenIsMintedOnlyWhenNeeded(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := &store{}
	d := New(s, Options{Endpoint: endpoint(t, token("top-secret", now.Add(12*time.Hour)))})
	d.now = func() time.Time { return now }
	q := query(awsSpec())
	if obs := observe(t, d, q); obs.Exists || obs.Renew != "" || obs.Predicted["registry"] != registry {
		t.Fatalf("%+v", obs)
	}
	res, err := d.Apply(t.Context(), deploy.Request{Query: q})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"mode": "aws", "registry": registry, "expires": "2026-01-02T15:04:05Z"}, res.Facts); diff != "" {
		t.Fatal(diff)
	}
	if res.Fingerprint != state.Fingerprint("salt", q.Want.Spec) {
		t.Error("the fingerprint is not that of the wanted spec")
	}
	for _, c := range []struct {
		later       time.Duration
		renew, note string
	}{
		{0, "", "renews in 6h (token expires in 12h)"},
		{3 * time.Hour, "", "renews in 3h (token expires in 9h)"},
		{7 * time.Hour, "token expires in 5h, sooner than min_valid 6h", ""},
		{13 * time.Hour, "token expired 1h ago", ""},
	} {
		d.now = func() time.Time { return now.Add(c.later) }
		obs := observe(t, d, q)
		if obs.Renew != c.renew || strings.Join(obs.Notes, "") != c.note || !cmp.Equal(obs.Live, obs.Predicted) || !obs.Ready.Ready {
			t.Errorf("after %s: renew %q, notes %q, live %v", c.later, obs.Renew, obs.Notes, obs.Live)
		}
	}
	short := awsSpec()
	short.MinValid = "30m"
	d.now = func() time.Time { return now.Add(11*time.Hour + 40*time.Minute) }
	if obs := observe(t, d, query(short)); obs.Renew != "token expires in 20m, sooner than min_valid 30m" {
		t.Error(obs.Renew)
	}
}

func TestECRFaults(t *testing.T) {
	good := token("top-secret", time.Now().Add(time.Hour))
	for name, c := range map[string]struct {
		answers []func(http.ResponseWriter)
		want    string // part of the error, "" for success
	}{
		"denied":         {[]func(http.ResponseWriter){refusal(400, "AccessDeniedException")}, "AccessDeniedException"},
		"expired keys":   {[]func(http.ResponseWriter){refusal(403, "ExpiredTokenException")}, "ExpiredTokenException"},
		"one bad moment": {[]func(http.ResponseWriter){refusal(500, "ServerException"), good}, ""},
		"throttled":      {[]func(http.ResponseWriter){refusal(400, "ThrottlingException"), good}, ""},
		"down":           {[]func(http.ResponseWriter){refusal(503, "ServiceUnavailable")}, "503"},
		"no token":       {[]func(http.ResponseWriter){func(w http.ResponseWriter) { fmt.Fprint(w, `{"authorizationData":[]}`) }}, "holds no token"},
		"token not paired": {[]func(http.ResponseWriter){func(w http.ResponseWriter) {
			fmt.Fprint(w, `{"authorizationData":[{"authorizationToken":"bm90aGluZw=="}]}`)
		}}, "not base64 of user:password"},
		"garbage": {[]func(http.ResponseWriter){func(w http.ResponseWriter) { fmt.Fprint(w, `<html>`) }}, "registry"},
	} {
		t.Run(name, func(t *testing.T) {
			d := New(&store{}, Options{Endpoint: endpoint(t, c.answers...)})
			_, err := d.Apply(t.Context(), deploy.Request{Query: query(awsSpec())})
			if c.want == "" && err != nil {
				t.Fatal(err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), registry) || name != "garbage" && !strings.Contains(err.Error(), c.want)) {
				t.Fatal(err)
			}
		})
	}
}

func TestReplicatedIsWaitedForAndNeverWritten(t *testing.T) {
	spec := resource.CredentialSpec{Mode: resource.CredentialReplicated, Registry: registry}
	q := query(spec)
	s := &store{}
	d := New(s, Options{})
	obs := observe(t, d, q)
	if !obs.Borrowed || obs.Exists || !strings.Contains(obs.Ready.Reason, "mif=enabled") {
		t.Fatalf("%+v", obs)
	}
	if _, err := d.Apply(t.Context(), deploy.Request{Query: q}); err != nil || s.live != nil {
		t.Fatal(s.live, err)
	}
	q.Want.Options.CreateTimeout = 300 * time.Millisecond
	var reasons []string
	err := d.Wait(t.Context(), deploy.Request{Query: q}, func(r plan.Readiness) { reasons = append(reasons, r.Reason) })
	if !errors.Is(err, deploy.ErrNotReady) || len(reasons) != 1 {
		t.Fatal(err, reasons)
	}
	s.live = manifest(secretID(q.Want.ID), registry, credential{auth: "QVdTOng="})
	s.live["metadata"].(map[string]any)["annotations"] = map[string]any{replicatedAnnotation: time.Now().Add(-13 * time.Hour).Format(time.RFC3339)}
	if err := d.Wait(t.Context(), deploy.Request{Query: q}, nil); err != nil {
		t.Fatal(err)
	}
	if obs := observe(t, d, q); len(obs.Warnings) != 1 || !strings.Contains(obs.Warnings[0], "expired 1h ago") {
		t.Errorf("%q", obs.Warnings)
	}
	prior := &state.Entry{ID: q.Want.ID, Borrowed: true}
	if err := d.Delete(t.Context(), deploy.Request{Query: deploy.Query{Prior: prior}}); err != nil || s.live == nil {
		t.Fatal("the replicator's Secret was deleted", err)
	}
	if obs := observe(t, New(s, Options{}), query(awsSpec())); len(obs.Warnings) != 1 || !strings.Contains(obs.Warnings[0], "a replicator writes this Secret") {
		t.Errorf("two writers: %q", obs.Warnings)
	}
}

func TestDockerConfig(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"auth":              {`{"auths":{"` + registry + `":{"auth":"QVdTOnRvcC1zZWNyZXQ="}}}`, ""},
		"https key":         {`{"auths":{"https://` + registry + `/v2":{"auth":"QVdTOnRvcC1zZWNyZXQ="}}}`, ""},
		"user and password": {`{"auths":{"` + registry + `":{"username":"AWS","password":"top-secret"}}}`, ""},
		"other registry":    {`{"auths":{"ghcr.io":{"auth":"eDp5"}}}`, "it has: ghcr.io"},
		"helper":            {`{"auths":{"` + registry + `":{}},"credsStore":"desktop"}`, "docker-credential-desktop"},
		"broken":            {`{"auths":top-secret`, "not valid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.json")
			if err := os.WriteFile(file, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			q := query(resource.CredentialSpec{Mode: resource.CredentialDockerConfig, Registry: registry, ConfigFile: file})
			s := &store{}
			d := New(s, Options{})
			_, err := d.Apply(t.Context(), deploy.Request{Query: q})
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "top-secret") {
					t.Fatal(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if obs := observe(t, d, q); !obs.Ready.Ready || !cmp.Equal(obs.Live, obs.Predicted) {
				t.Fatalf("%+v", obs)
			}
		})
	}
	_, err := New(&store{}, Options{}).Apply(t.Context(), deploy.Request{Query: query(resource.CredentialSpec{Mode: resource.CredentialDockerConfig, Registry: registry, ConfigFile: "/nowhere/config.json"})})
	if err == nil || !strings.Contains(err.Error(), "docker login") {
		t.Fatal(err)
	}
}

func TestReadyAndExpiry(t *testing.T) {
	ecrToken := base64.StdEncoding.EncodeToString([]byte(`{"payload":"x","expiration":1767323045}`))
	live := manifest(resource.ID{Name: "x"}, registry, credential{auth: base64.StdEncoding.EncodeToString([]byte("AWS:" + ecrToken))})
	if got := expiry(live, registry); !got.Equal(time.Unix(1767323045, 0)) {
		t.Errorf("expiration inside the token: %s", got)
	}
	live["type"] = "Opaque"
	if r := ready(live, awsSpec()); r.Ready || !r.Failed {
		t.Errorf("%+v", r)
	}
	live["type"], live["data"] = secretType, map[string]any{secretKey: "!"}
	if r := ready(live, awsSpec()); r.Ready || r.Reason == "" {
		t.Errorf("%+v", r)
	}
}
