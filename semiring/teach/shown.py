"""Objects that a notebook shows as a page, and that save it."""

from __future__ import annotations

import html
from pathlib import Path

from semiring.files.streams import created


class Shown:
    """An object whose page is one HTML file.

    A subclass has a `title`, the height of its frame where the page cannot choose it, and `_page`.
    """

    title: str
    height: int

    def _page(self) -> str:
        """The text of the page."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        title, text = html.escape(self.title, True), html.escape(self._page(), True)
        return (f'<iframe class="semiring-explain" title="{title}" loading="lazy" srcdoc="{text}" '
                f'style="width: 100%; height: {self.height}px; border: 0"></iframe>')

    def save(self, path: str | Path) -> None:
        """Write the page: one HTML file that needs no network and no server.

        Parameters
        ----------
        path : str or Path

        Raises
        ------
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.explain([[0.0, 2.0], [1.0, 0.0]], sr.min_plus).save("page.html")  # doctest: +SKIP
        """
        with created(Path(path)) as file:
            file.write(self._page().encode("utf-8"))
