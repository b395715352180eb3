# The service, which emulates an older release.
FROM vobjects-clustering
COPY old.json /old.json
SHELL ["/bin/bash", "-c"]
USER 0
RUN printf '%s\n' \
    '#!/bin/sh' \
    'case $1 in' \
    'engine) exec vobjects "$@" --manifest /old.json ;;' \
    'api) exec vobjects "$@" --emulate 0.1.0 ;;' \
    '*) exec vobjects "$@" ;;' \
    'esac' \
    >/usr/local/bin/old-vobjects \
    && chmod 755 /usr/local/bin/old-vobjects
USER 8777
ENTRYPOINT ["old-vobjects"]
