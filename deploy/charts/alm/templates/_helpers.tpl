{{- define "alm.namespace" -}}
{{- if ne .Release.Namespace "alm-system" -}}
{{- fail "ALM works from namespace alm-system: helm install alm ... --namespace alm-system --create-namespace" -}}
{{- end -}}
alm-system
{{- end -}}

{{- define "alm.selector" -}}
app.kubernetes.io/name: alm
app.kubernetes.io/component: controller
{{- end -}}

{{- define "alm.labels" -}}
{{ include "alm.selector" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "alm.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}
