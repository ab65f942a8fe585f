package istio

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The structs below hold the fields of Gateway API v1 and of the inference extension v1 that the stand-in obeys.

type gatewaySpec struct {
	GatewayClassName string     `json:"gatewayClassName"`
	Listeners        []listener `json:"listeners"`
	Infrastructure   *struct {
		Labels        map[string]string `json:"labels"`
		Annotations   map[string]string `json:"annotations"`
		ParametersRef *reference        `json:"parametersRef"`
	} `json:"infrastructure"`
}

type listener struct {
	Name          string `json:"name"`
	Port          int    `json:"port"`
	Protocol      string `json:"protocol"`
	Hostname      string `json:"hostname"`
	AllowedRoutes *struct {
		Namespaces *struct {
			From     string                `json:"from"`
			Selector *metav1.LabelSelector `json:"selector"`
		} `json:"namespaces"`
	} `json:"allowedRoutes"`
}

// reference is any of Gateway API's references; which fields are used depends on the place.
type reference struct {
	Group       *string `json:"group,omitempty"`
	Kind        string  `json:"kind,omitempty"`
	Namespace   string  `json:"namespace,omitempty"`
	Name        string  `json:"name"`
	SectionName string  `json:"sectionName,omitempty"`
	Port        *int    `json:"port,omitempty"`
	Weight      *int    `json:"weight,omitempty"`
}

func (r reference) group() string {
	if r.Group == nil {
		return ""
	}
	return *r.Group
}

type routeSpec struct {
	ParentRefs []reference `json:"parentRefs"`
	Hostnames  []string    `json:"hostnames"`
	Rules      []struct {
		Matches []struct {
			Path *struct {
				Type  string `json:"type"`
				Value string `json:"value"`
			} `json:"path"`
			Method  string `json:"method"`
			Headers []struct {
				Type  string `json:"type"`
				Name  string `json:"name"`
				Value string `json:"value"`
			} `json:"headers"`
		} `json:"matches"`
		BackendRefs []reference `json:"backendRefs"`
	} `json:"rules"`
}

type poolSpec struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	TargetPorts []struct {
		Number int `json:"number"`
	} `json:"targetPorts"`
	EndpointPickerRef struct {
		Name        string `json:"name"`
		FailureMode string `json:"failureMode"`
		Port        struct {
			Number int `json:"number"`
		} `json:"port"`
	} `json:"endpointPickerRef"`
}

// gateway, route and pool pair an object with the part of its spec that is obeyed.
type gateway struct {
	live     *unstructured.Unstructured
	spec     gatewaySpec
	params   *corev1.ConfigMap // nil: none asked for, or missing
	problem  problem           // why it cannot be programmed as asked
	proxies  []*corev1.Pod     // its pods
	exposure corev1.ServiceType
}

func (g *gateway) uid() string { return string(g.live.GetUID()) }

type route struct {
	live    *unstructured.Unstructured
	spec    routeSpec
	parents []parent
	rules   []backend
}

type pool struct {
	live   *unstructured.Unstructured
	spec   poolSpec
	picker problem // what is wrong with its endpointPickerRef
}

// problem is a condition's reason and message; the zero value is none.
type problem struct{ reason, message string }
