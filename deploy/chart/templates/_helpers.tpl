{{- define "consent.selector" -}}
{app.kubernetes.io/instance: {{ .root.Release.Name }}, app.kubernetes.io/component: {{ .part }}}
{{- end }}

{{- define "consent.metadata" -}}
name: {{ .root.Release.Name }}-{{ .part }}
labels:
  app.kubernetes.io/name: {{ .root.Chart.Name }}
  app.kubernetes.io/instance: {{ .root.Release.Name }}
  app.kubernetes.io/component: {{ .part }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end }}

{{- define "consent.confined" -}}
{allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, readOnlyRootFilesystem: true}
{{- end }}

{{/* What each pod has: the user of the image, no token of the cluster, folders of its own. keys: receipt, log or nothing. */}}
{{- define "consent.pod" -}}
automountServiceAccountToken: false
securityContext: {runAsNonRoot: true, runAsUser: 10001, runAsGroup: 10001, fsGroup: 10001, seccompProfile: {type: RuntimeDefault}}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
volumes:
  - {name: tmp, emptyDir: {}}
  {{- if ne .keys "log" }}
  - {name: state, emptyDir: {}}
  {{- end }}
  {{- if .keys }}
  - {name: keys, secret: {secretName: {{ get .root.Values.secrets (print .keys "Keys") }}, defaultMode: 0440}}
  {{- end }}
  {{- with .root.Values.files }}
  - {name: files, configMap: {name: {{ . }}}}
  {{- end }}
{{- end }}

{{/* A process of the image: name, command, resources, the Secrets of its variables, and its keys as above. */}}
{{- define "consent.process" -}}
{{- $image := .root.Values.image }}{{ $tag := $image.tag | default .root.Chart.AppVersion -}}
name: {{ .name }}
image: {{ $image.repository }}{{ hasPrefix "sha256:" $tag | ternary "@" ":" }}{{ $tag }}
workingDir: /srv/consent
command: {{ toJson .command }}
env:
  - {name: BASE_URL, value: {{ printf "https://%s" .root.Values.host | quote }}}
  - {name: BEHIND_TLS_PROXY, value: "true"}
  {{- if ne .keys "receipt" }}
  - {name: RECEIPT_KEYS, value: "[]"}
  {{- end }}
  {{- if .keys }}
  - {name: {{ upper .keys }}_KEYS_FILE, value: /keys/{{ .keys }}-keys.json}
  {{- end }}
  {{- if .metrics }}
  - {name: METRICS_ADDRESS, value: "0.0.0.0:9464"}
  {{- end }}
  {{- range $name, $value := .root.Values.env }}
  - {name: {{ $name }}, value: {{ quote $value }}}
  {{- end }}
envFrom:
  {{- range .secrets }}
  - {secretRef: {name: {{ get $.root.Values.secrets . }}}}
  {{- end }}
resources: {{ toJson .resources }}
securityContext: {{ include "consent.confined" . }}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
  - {name: state, mountPath: /var/lib/consent}
  {{- if .keys }}
  - {name: keys, mountPath: /keys, readOnly: true}
  {{- end }}
  {{- if .root.Values.files }}
  - {name: files, mountPath: /etc/consent, readOnly: true}
  {{- end }}
{{- end }}
