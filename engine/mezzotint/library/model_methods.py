"""Methods of the library service for models: folders, downloads, quantization and verification."""

from collections.abc import Callable, Sequence
from pathlib import Path

from mezzotint.catalog.catalog import Catalog
from mezzotint.library.params import PathParams
from mezzotint.library_protocol import (
    GetRequest,
    KnownModel,
    KnownModelsRequest,
    ModelPlace,
    Offer,
    QuantizeRequest,
    Verified,
)
from mezzotint.protocol import HubModel, HubSearch, IsCancelled, ModelInfo, ModelRef, OnEvent, PartChoice, PartFiles
from mezzotint.rpc.server import Method

MakeCatalog = Callable[[], Catalog]


def model_methods(make_catalog: MakeCatalog, folders: Sequence[Path] = ()) -> dict[str, Method]:
    """Return the methods by name; each calls `make_catalog`, since places change. `folders` are given at start."""
    of = _ModelMethods(make_catalog, tuple(folders))
    return {
        "places": Method(params=None, run=of.places),
        "add_place": Method(params=PathParams, run=of.add_place),
        "remove_place": Method(params=PathParams, run=of.remove_place),
        "forget_model": Method(params=ModelRef, run=of.hide_model),
        "remember_model": Method(params=ModelRef, run=of.unhide_model),
        "hidden_models": Method(params=None, run=of.hidden_models),
        "known_models": Method(params=KnownModelsRequest, run=of.known_models),
        "search_hub": Method(params=HubSearch, run=of.search_hub, lane="waiting"),
        "offer": Method(params=GetRequest, run=of.offer, lane="waiting"),
        "get": Method(params=GetRequest, run=of.get, job=True),
        "quantize": Method(params=QuantizeRequest, run=of.quantize, job=True),
        "verify": Method(params=ModelRef, run=of.verify, job=True),
        "part_files": Method(params=ModelRef, run=of.part_files),
        "choose_part": Method(params=PartChoice, run=of.choose_part),
    }


class _ModelMethods:
    def __init__(self, make_catalog: MakeCatalog, folders: tuple[Path, ...]) -> None:
        self._make_catalog = make_catalog
        self._folders = folders

    def places(self, _params: None, _tell: OnEvent, _cancelled: IsCancelled) -> tuple[ModelPlace, ...]:
        from mezzotint.library.places import list_places

        return list_places(self._folders)

    def add_place(self, params: PathParams, tell: OnEvent, cancelled: IsCancelled) -> tuple[ModelPlace, ...]:
        from mezzotint.library.places import add_place

        add_place(params.path)
        return self.places(None, tell, cancelled)

    def remove_place(self, params: PathParams, tell: OnEvent, cancelled: IsCancelled) -> tuple[ModelPlace, ...]:
        from mezzotint.library.places import remove_place

        remove_place(params.path)
        return self.places(None, tell, cancelled)

    def hide_model(self, params: ModelRef, _tell: OnEvent, _cancelled: IsCancelled) -> None:
        from mezzotint.library.places import hide_model

        hide_model(self._make_catalog(), params.id)

    def unhide_model(self, params: ModelRef, _tell: OnEvent, _cancelled: IsCancelled) -> None:
        from mezzotint.library.places import unhide_model

        unhide_model(self._make_catalog(), params.id)

    def hidden_models(self, _params: None, _tell: OnEvent, _cancelled: IsCancelled) -> tuple[ModelInfo, ...]:
        return self._make_catalog().removed()

    def known_models(
        self, params: KnownModelsRequest, _tell: OnEvent, _cancelled: IsCancelled
    ) -> tuple[KnownModel, ...]:
        from mezzotint.library.known_models import known_models

        return known_models(params.vram_bytes)

    def search_hub(self, request: HubSearch, _tell: OnEvent, cancelled: IsCancelled) -> tuple[HubModel, ...]:
        from mezzotint.library.hub_search import search_hub

        return search_hub(request, cancelled)

    def offer(self, request: GetRequest, _tell: OnEvent, cancelled: IsCancelled) -> Offer:
        from mezzotint.library.offer import offer

        return offer(request, cancelled)

    def get(self, request: GetRequest, tell: OnEvent, cancelled: IsCancelled) -> ModelInfo:
        from mezzotint.library.downloads.download import get

        return get(request, self._make_catalog, tell, cancelled)

    def quantize(self, request: QuantizeRequest, tell: OnEvent, cancelled: IsCancelled) -> ModelInfo:
        from mezzotint.library.quantizing import quantize

        return quantize(request, self._make_catalog, tell, cancelled)

    def verify(self, ref: ModelRef, tell: OnEvent, cancelled: IsCancelled) -> Verified:
        from mezzotint.library.verify import verify

        return verify(ref, self._make_catalog(), tell, cancelled)

    def part_files(self, ref: ModelRef, _tell: OnEvent, _cancelled: IsCancelled) -> tuple[PartFiles, ...]:
        return self._make_catalog().part_files(ref)

    def choose_part(self, choice: PartChoice, _tell: OnEvent, _cancelled: IsCancelled) -> tuple[PartFiles, ...]:
        from mezzotint.library.parts import choose_part

        choose_part(self._make_catalog(), choice)
        return self._make_catalog().part_files(ModelRef(id=choice.model))
