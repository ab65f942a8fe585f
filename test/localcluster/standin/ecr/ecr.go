// Package ecr plays one call of the ECR API, GetAuthorizationToken in AWS JSON 1.1, so that a client's path through the
// real SDK (credentials, endpoint override, signing, decoding, expiry) can be walked without an account.
//
// It demands a version 4 signature made with its own key id for service ecr, but does not recompute the signature. Every
// other operation is refused. Tokens are random dummies that no registry accepts; none is ever logged.
package ecr

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	// KeyID and SecretKey are the credentials that the stand-in takes; they are AWS's own documentation examples in shape
	// only.
	KeyID     = "LOCALCLUSTERDUMMYKEY"
	SecretKey = "local-control-plane-dummy-secret-key"
	// Region is the one of the published registry.
	Region = "ap-northeast-2"
	// lifetime of a token, as documented for ECR.
	lifetime = 12 * time.Hour
	target   = "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken"
)

// Start serves on a loopback port until ctx ends and returns the variables that make an AWS SDK use it.
func Start(ctx context.Context, log func(format string, args ...any)) (map[string]string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("ECR endpoint: %w", err)
	}
	srv := &http.Server{Handler: Handler(time.Now), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	go func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log("ecr: the endpoint ended: %v", err)
		}
	}()
	return map[string]string{
		"AWS_ENDPOINT_URL_ECR": "http://" + l.Addr().String(), "AWS_REGION": Region,
		"AWS_ACCESS_KEY_ID": KeyID, "AWS_SECRET_ACCESS_KEY": SecretKey,
	}, nil
}

// Handler answers the call; now is the clock.
func Handler(now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if problem, message := refuse(r); problem != "" {
			answer(w, http.StatusBadRequest, map[string]any{"__type": problem, "message": message})
			return
		}
		answer(w, http.StatusOK, map[string]any{"authorizationData": []any{map[string]any{
			"authorizationToken": base64.StdEncoding.EncodeToString([]byte("AWS:" + rand.Text())),
			"expiresAt":          float64(now().Add(lifetime).UnixMilli()) / 1000,
			"proxyEndpoint":      "https://255250787067.dkr.ecr." + region(r) + ".amazonaws.com",
		}}})
	})
}

// refuse returns the exception with which ECR would answer, "" when there is none.
func refuse(r *http.Request) (problem, message string) {
	auth := r.Header.Get("Authorization")
	switch {
	case r.Method != http.MethodPost || r.Header.Get("X-Amz-Target") != target:
		return "UnknownOperationException", "the stand-in only knows GetAuthorizationToken"
	case auth == "":
		return "MissingAuthenticationTokenException", "Missing Authentication Token"
	case !strings.HasPrefix(auth, "AWS4-HMAC-SHA256 ") || !strings.Contains(auth, "Signature="):
		return "IncompleteSignatureException", "Authorization header is not a version 4 signature"
	case len(scope(r)) != 5 || scope(r)[0] != KeyID:
		return "UnrecognizedClientException", "The security token included in the request is invalid."
	case scope(r)[3] != "ecr":
		return "InvalidSignatureException", "Credential should be scoped to correct service: 'ecr'."
	}
	return "", ""
}

// scope splits the credential: key id, date, region, service, "aws4_request".
func scope(r *http.Request) []string {
	_, rest, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	credential, _, _ := strings.Cut(rest, ",")
	return strings.Split(strings.TrimSpace(credential), "/")
}

func region(r *http.Request) string { return scope(r)[2] }

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that is gone cannot be told
}
