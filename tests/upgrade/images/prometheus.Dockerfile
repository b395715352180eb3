# Prometheus with the paths of the image "prom/prometheus".
FROM debian
RUN install -d -o nobody /prometheus
USER nobody
WORKDIR /prometheus
ENTRYPOINT ["prometheus"]
CMD ["--config.file=/etc/prometheus/prometheus.yml", \
    "--storage.tsdb.path=/prometheus"]
