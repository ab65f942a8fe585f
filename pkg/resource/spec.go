package resource

// ReleaseSpec is the Spec of a driver-helm object, by JSON keys of the same names.
type ReleaseSpec struct {
	// Repository is a repository URL, an oci:// reference's parent, a directory or a .tgz ("" = Chart says it all).
	Repository string `json:"repository,omitempty"`
	Chart      string `json:"chart"`
	// Version is an exact version or a SemVer range; resolved and pinned at plan.
	Version string `json:"version,omitempty"`
	// Values are the chart values as the author and the kind wrote them, merged.
	Values          map[string]any `json:"values,omitempty"`
	Wait            bool           `json:"wait"`
	Atomic          bool           `json:"atomic,omitempty"`
	TakeOwnership   bool           `json:"takeOwnership,omitempty"`
	SkipCRDs        bool           `json:"skipCRDs,omitempty"`
	UpgradeCRDs     bool           `json:"upgradeCRDs,omitempty"`
	CreateNamespace bool           `json:"createNamespace,omitempty"`
	Username        string         `json:"username,omitempty"`
	// Password is sensitive (pointer /password).
	Password string `json:"password,omitempty"`
}

// Credential modes of the ecr_credentials kind.
const (
	CredentialAWS          = "aws"           // mint an ECR token with the AWS SDK
	CredentialReplicated   = "replicated"    // wait for the copy that a replicator makes
	CredentialDockerConfig = "docker_config" // copy one registry's entry of a docker config file
)

// CredentialSpec is the Spec of a driver-ecr object.
type CredentialSpec struct {
	Mode     string `json:"mode"`
	Registry string `json:"registry"`
	Region   string `json:"region,omitempty"`
	// ConfigFile is the docker config file of mode docker_config.
	ConfigFile string `json:"configFile,omitempty"`
	// MinValid is the shortest remaining life (Go duration) that does not trigger a renewal.
	MinValid string `json:"minValid,omitempty"`
}
