# Debian with Python, and with the wheels of the service.
FROM debian
COPY wheels /wheels
ENV PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels
