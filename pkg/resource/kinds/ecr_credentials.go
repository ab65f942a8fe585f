package kinds

import (
	"fmt"
	"regexp"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/mifbench/mifbench/pkg/resource"
)

// ECRCredentials are the options of an ecr_credentials block.
type ECRCredentials struct {
	Namespace  string   `hcl:"namespace" doc:"Namespace of the Secret."`
	SecretName *string  `hcl:"secret_name,optional" doc:"Name of the Secret." default:"moreh-registry"`
	Registry   string   `hcl:"registry" doc:"Registry host, e.g. <account>.dkr.ecr.<region>.amazonaws.com."`
	Region     *string  `hcl:"region,optional" doc:"AWS region; taken from the registry's host name when absent."`
	Mode       string   `hcl:"mode" doc:"aws: mint a token; replicated: wait for a replicator's copy; docker_config: take it from a docker config file." enum:"aws,replicated,docker_config"`
	ConfigFile *string  `hcl:"config_file,optional" doc:"Docker config file of mode docker_config; ~/.docker/config.json when absent."`
	MinValid   *string  `hcl:"min_valid,optional" doc:"Renew a token that lives less long than this (mode aws)." default:"6h"`
	Refresh    *Refresh `hcl:"refresh,block" doc:"A CronJob in the cluster that keeps the token fresh (mode aws); tokens live 12 h."`
}

// Refresh is the refresh block of ecr_credentials.
type Refresh struct {
	Schedule          string            `hcl:"schedule" doc:"Cron schedule, e.g. 0 */6 * * *."`
	Image             *string           `hcl:"image,optional" doc:"Image with the aws and kubectl commands." default:"heyvaldemar/aws-kubectl:latest"`
	CredentialsSecret *string           `hcl:"credentials_secret,optional" doc:"Secret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; absent where the pod's identity has them."`
	Annotations       map[string]string `hcl:"service_account_annotations,optional" doc:"Annotations of the CronJob's ServiceAccount, e.g. a role for workload identity."`
}

func expandECRCredentials(s resource.Scope, o *ECRCredentials) (resource.Expansion, hcl.Diagnostics) {
	name := orDefault(o.SecretName, "moreh-registry")
	region, diags := ecrRegion(s, o)
	diags = append(diags, checkModeOptions(s, o)...)
	secret := resource.Object{
		Address: s.Address,
		ID:      resource.ID{Driver: resource.DriverECR, APIVersion: "v1", Kind: "Secret", Namespace: o.Namespace, Name: name},
		Spec: specMap(resource.CredentialSpec{
			Mode: o.Mode, Registry: o.Registry, Region: region,
			ConfigFile: anchored(s.Dir, orDefault(o.ConfigFile, "")), MinValid: orDefault(o.MinValid, ""),
		}),
		Range: s.Block,
	}
	objects := []resource.Object{secret}
	if o.Refresh != nil {
		objects = append(objects, refresher(s, o, name, region)...)
	}
	return resource.Expansion{
		Objects: objects,
		Attrs:   attrs(map[string]string{"secret_name": name, "namespace": o.Namespace, "registry": o.Registry}),
	}, diags
}

func ecrRegion(s resource.Scope, o *ECRCredentials) (string, hcl.Diagnostics) {
	if o.Region != nil {
		return *o.Region, nil
	}
	m := regexp.MustCompile(`\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com`).FindStringSubmatch(o.Registry)
	if m != nil {
		return m[1], nil
	}
	if o.Mode == resource.CredentialAWS {
		return "", hcl.Diagnostics{s.Error("registry", "Region unknown", fmt.Sprintf("The host %q does not tell the AWS region, as <account>.dkr.ecr.<region>.amazonaws.com would; set region.", o.Registry))}
	}
	return "", nil
}

func checkModeOptions(s resource.Scope, o *ECRCredentials) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if o.Refresh != nil && o.Mode != resource.CredentialAWS {
		diags = diags.Append(s.Error("refresh", "Two writers for one Secret", fmt.Sprintf("A refresh block mints tokens, but mode %q gets them from elsewhere; drop the block or use mode = \"aws\".", o.Mode)))
	}
	if o.ConfigFile != nil && o.Mode != resource.CredentialDockerConfig {
		diags = diags.Append(s.Error("config_file", "Attribute without effect", fmt.Sprintf("config_file belongs to mode = \"docker_config\"; the mode is %q.", o.Mode)))
	}
	if o.MinValid != nil {
		d, err := time.ParseDuration(*o.MinValid)
		if err != nil || d < 0 || d >= 12*time.Hour {
			diags = diags.Append(s.Error("min_valid", "Invalid duration", fmt.Sprintf("%q is not a duration below 12h, the life of an ECR token; write for example \"6h\".", *o.MinValid)))
		}
	}
	return diags
}
