{{- /* What every object is called: the release if its name contains "heimdall", else <release>-heimdall. */}}
{{- define "standin.fullname" -}}
{{- $chart := .Values.nameOverride | default .Chart.Name -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains $chart .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $chart | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "standin.namespace" -}}
{{- .Values.namespaceOverride | default .Release.Namespace -}}
{{- end }}

{{- /* Name of what is not in a namespace. */}}
{{- define "standin.clustername" -}}
{{- printf "%s-%s" (include "standin.fullname" .) (include "standin.namespace" .) | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{- define "standin.account" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "standin.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end }}

{{- define "standin.selector" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "standin.labels" -}}
{{ include "standin.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: mif
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- range $k, $v := .Values.commonLabels }}
{{ $k }}: {{ tpl $v $ | quote }}
{{- end }}
{{- end }}

{{- /* Labels of the pods behind the pool. In this version labels of one's own land one level too high. */}}
{{- define "standin.poolSelector" -}}
matchLabels:
{{- if .Values.inferencePool.matchLabels }}
{{ toYaml .Values.inferencePool.matchLabels }}
{{- else }}
  mif.moreh.io/pool: {{ include "standin.fullname" . }}
{{- end }}
{{- end }}
