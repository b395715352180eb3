# RabbitMQ with the environment variables of the image "rabbitmq".
FROM debian
SHELL ["/bin/bash", "-c"]
RUN printf '%s\n' \
    '#!/bin/bash' \
    'set -euo pipefail' \
    'cat >/etc/rabbitmq/rabbitmq.conf <<END' \
    'default_user = $RABBITMQ_DEFAULT_USER' \
    'default_pass = $RABBITMQ_DEFAULT_PASS' \
    'END' \
    'exec rabbitmq-server' \
    >/usr/local/bin/run-rabbitmq \
    && chmod 755 /usr/local/bin/run-rabbitmq \
    && chown rabbitmq /etc/rabbitmq
USER rabbitmq
CMD ["run-rabbitmq"]
