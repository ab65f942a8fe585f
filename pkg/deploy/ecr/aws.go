package ecr

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/smithy-go/logging"

	"github.com/mifbench/mifbench/pkg/resource"
)

// mint gets an authorization token with the SDK's default credential chain.
func (d *Driver) mint(ctx context.Context, s resource.CredentialSpec) (credential, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(s.Region), config.WithLogger(logging.Nop{})) // its errors say it all
	if err != nil {
		return credential{}, fmt.Errorf("AWS configuration: %w", err)
	}
	client := ecr.NewFromConfig(cfg, func(o *ecr.Options) {
		if d.options.Endpoint != "" {
			o.BaseEndpoint = aws.String(d.options.Endpoint)
		}
	})
	out, err := client.GetAuthorizationToken(ctx, &ecr.GetAuthorizationTokenInput{})
	if err != nil {
		return credential{}, fmt.Errorf("token for %s from ECR in %s: %w; check the AWS credentials (environment, ~/.aws, SSO or instance role) and ecr:GetAuthorizationToken", s.Registry, s.Region, err)
	}
	if len(out.AuthorizationData) == 0 || out.AuthorizationData[0].AuthorizationToken == nil {
		return credential{}, fmt.Errorf("token for %s from ECR in %s: the answer holds no token", s.Registry, s.Region)
	}
	data := out.AuthorizationData[0]
	pair, err := base64.StdEncoding.DecodeString(*data.AuthorizationToken)
	if err != nil || !strings.Contains(string(pair), ":") {
		return credential{}, fmt.Errorf("token for %s from ECR in %s: the answer is not base64 of user:password", s.Registry, s.Region)
	}
	c := credential{auth: *data.AuthorizationToken}
	if data.ExpiresAt != nil {
		c.expires = *data.ExpiresAt
	}
	return c, nil
}
