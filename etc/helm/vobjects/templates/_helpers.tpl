{{- define "vobjects.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "vobjects.selector" . }}
{{- end }}

{{- define "vobjects.selector" -}}
app.kubernetes.io/name: vobjects
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "vobjects.secret" -}}
{{ .Values.existingSecret | default (printf "%s-configuration" .Release.Name) }}
{{- end }}

{{- /* The pods of a component: all but its own container settings. */ -}}
{{- define "vobjects.pod" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 8777
  seccompProfile: {type: RuntimeDefault}
volumes:
  - name: configuration
    secret:
      secretName: {{ include "vobjects.secret" . }}
      items: [{key: vobjects.conf, path: vobjects.conf}]
  - name: temporary
    emptyDir: {}
  {{- with .Values.caSecret }}
  - name: ca
    secret: {secretName: {{ . }}}
  {{- end }}
{{- end }}

{{- define "vobjects.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: configuration, mountPath: /etc/vobjects, readOnly: true}
  - {name: temporary, mountPath: /tmp}
  {{- if .Values.caSecret }}
  - {name: ca, mountPath: /etc/vobjects-ca, readOnly: true}
  {{- end }}
{{- end }}

{{- /* Settings of the values, which override those of the file. */ -}}
{{- define "vobjects.environment" -}}
{{- range list "OS_DEFAULT__TRANSPORT_URL" "OS_DATABASE__CONNECTION" }}
- name: {{ . }}
  valueFrom:
    secretKeyRef: {name: {{ include "vobjects.secret" $ }}, key: {{ . }}}
{{- end }}
{{- if .Values.broker.tls }}
- {name: OS_OSLO_MESSAGING_RABBIT__SSL, value: "true"}
{{- if .Values.caSecret }}
- {name: OS_OSLO_MESSAGING_RABBIT__SSL_CA_FILE, value: /etc/vobjects-ca/ca.crt}
{{- end }}
{{- end }}
{{- end }}

{{- /* Spread the pods of a component over nodes and zones. */ -}}
{{- define "vobjects.spread" -}}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
- maxSkew: 1
  topologyKey: {{ . }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "vobjects.selector" $.root | nindent 6 }}
      app.kubernetes.io/component: {{ $.component }}
{{- end }}
{{- end }}
