# SPDX-License-Identifier: Apache-2.0
"""Send the requests of a route to an engine.

An engine that joined after the negotiation may be too old for a request. The
error is then that of a new negotiation.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from api import routes
from api.service import Service
from vobjects import exceptions, objects
from vobjects.clustering import errors as engine_errors
from vobjects.clustering.context import RequestContext
from vobjects.microversions import errors
from vobjects.objects.manifest import Manifest, at_microversion, within
from vobjects.rpc.response_text import ResponseText
from vobjects.versions import Maximum, Version


class EngineCalls:
    """Sends the requests of one route.

    :param versions: the microversions that have the method
    """

    def __init__(
        self,
        route: routes.Route,
        service: Service,
        versions: Collection[Version],
    ) -> None:
        self._route = route
        self._service = service
        #: Manifests of the microversion, and of the types in the response.
        self._manifests: dict[Version, tuple[Manifest, Manifest]] = {}
        cls = route.renderer.cls
        for version in versions:
            manifest = at_microversion(
                version, early=service.versions.accepts_early
            )
            shown = within(cls, manifest) if cls else Manifest({})
            self._manifests[version] = manifest, shown

    def send(
        self,
        caller: RequestContext,
        request: objects.Request,
        version: Version,
    ) -> ResponseText:
        """Return an engine's result as the microversion shows it."""
        versions, shown = self._manifests[version]
        try:
            return self._service.client.call_for_text(
                *(caller, request, versions),
                shown=shown,
                part=self._route.renderer.part,
            )
        except exceptions.TOO_OLD as error:
            raise self._negotiation_error(error, version) from error

    def fetch(
        self,
        caller: RequestContext,
        request: objects.Request,
        version: Version,
    ) -> Any:
        """Return an engine's result as objects."""
        versions, _ = self._manifests[version]
        try:
            return self._service.client.call(caller, request, versions)
        except exceptions.TOO_OLD as error:
            raise self._negotiation_error(error, version) from error

    def _negotiation_error(
        self,
        error: exceptions.LossyDowngrade | exceptions.UnsupportedType,
        version: Version,
    ) -> errors.NegotiationError:
        """Return the error that sending this request again would raise."""
        lowest = self._service.versions.minimum
        limit = self._service.versions.limit(self._service.maximum())
        cls = objects.registered_type(error.type_name)
        if _is_supported(cls.version_at(version), error):
            name, needs = str(self._route), cls.introduced()
            if isinstance(error, exceptions.LossyDowngrade):
                name = repr(error.field)
                if error.field in cls.fields:
                    needs = cls.first_microversion_of(error.field)
            limits = (lowest, limit.version)
            return errors.NotServedEarly(
                name, version, needs, limits, str(error)
            )
        if limit.version >= version:
            # The error already knows a limit that the fleet has not reported.
            supported = [
                lower
                for lower in self._service.versions.versions
                if lower < version
                and _is_supported(cls.version_at(lower), error)
            ]
            limit = Maximum(max(supported, default=lowest), str(error))
        return errors.UnsupportedVersion(str(version), lowest, limit)

    def page(
        self,
        caller: RequestContext,
        request: Any,
        version: Version,
    ) -> tuple[ResponseText, bool]:
        """Return one page of a list, within the size limits.

        :returns: the page, and whether the page was cut and more may follow
        """
        max_limit = self._service.max_limit
        limit = request.limit if 'limit' in request else None
        request.limit = max_limit if limit is None else min(limit, max_limit)
        try:
            result = self.send(caller, request, version)
        except engine_errors.ListTooLarge as error:
            request.limit = min(request.limit, int(error.rows))
            result = self.send(caller, request, version)
        cut = request.limit != limit and result.count == request.limit
        return result, cut


def _is_supported(
    object_version: str | None,
    error: exceptions.LossyDowngrade | exceptions.UnsupportedType,
) -> bool:
    if object_version is None:
        return True
    supported = getattr(error, 'to_version', None)
    return supported is not None and (
        Version.parse(object_version) <= Version.parse(supported)
    )
