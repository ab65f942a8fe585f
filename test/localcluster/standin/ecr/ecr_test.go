package ecr

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestHandler(t *testing.T) {
	now := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	good := "AWS4-HMAC-SHA256 Credential=" + KeyID + "/20261130/ap-northeast-2/ecr/aws4_request, SignedHeaders=host, Signature=0"
	cases := []struct {
		name, target, auth string
		status             int
		problem            string
	}{
		{"a signed call gets a token", target, good, 200, ""},
		{"no credentials", target, "", 400, "MissingAuthenticationTokenException"},
		{"another scheme", target, "Bearer x", 400, "IncompleteSignatureException"},
		{"another key", target, strings.Replace(good, KeyID, "SOMEBODYELSE", 1), 400, "UnrecognizedClientException"},
		{"another service", target, strings.Replace(good, "/ecr/", "/s3/", 1), 400, "InvalidSignatureException"},
		{"another operation", "AmazonEC2ContainerRegistry_V20150921.ListImages", good, 400, "UnknownOperationException"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}"))
			r.Header.Set("X-Amz-Target", c.target)
			r.Header.Set("Authorization", c.auth)
			w := httptest.NewRecorder()
			Handler(func() time.Time { return now }).ServeHTTP(w, r)
			var body struct {
				Type              string `json:"__type"`
				AuthorizationData []struct {
					AuthorizationToken string
					ExpiresAt          float64
				}
			}
			if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
				t.Fatal(err)
			}
			if w.Code != c.status || body.Type != c.problem {
				t.Fatalf("got %d %q, want %d %q", w.Code, body.Type, c.status, c.problem)
			}
			if c.status != http.StatusOK {
				return
			}
			token, err := base64.StdEncoding.DecodeString(body.AuthorizationData[0].AuthorizationToken)
			if err != nil || !strings.HasPrefix(string(token), "AWS:") {
				t.Errorf("the token is not AWS:<password> (%v)", err)
			}
			if got := body.AuthorizationData[0].ExpiresAt; got != float64(now.Add(12*time.Hour).Unix()) {
				t.Errorf("expires at %v", got)
			}
		})
	}
}
