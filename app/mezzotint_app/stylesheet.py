"""The application's stylesheet, filled in with a theme's colours."""

from functools import cache

from mezzotint import paths

_SHEET = """
QToolTip {{ background: {raised}; color: {text}; border: 1px solid {line}; padding: 4px 6px; }}
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
QLabel[role="title"] {{ font-size: 20px; font-weight: 600; }}
QLabel[role="heading"] {{ font-weight: 600; }}
QLabel[role="muted"] {{ color: {muted}; }}
QLabel[role="error"] {{ color: {danger}; }}
QLabel[role="warning"] {{ color: {warning}; }}
QLabel[role="good"] {{ color: {good}; }}

QFrame[role="card"] {{ background: {surface}; border: 1px solid {line}; border-radius: 8px; }}
QFrame[role="bar"] {{ background: {surface}; border: none; border-bottom: 1px solid {line}; }}
QFrame[role="side"] {{ background: {surface}; border: none; border-right: 1px solid {line}; }}
QFrame[role="notice"] {{ background: {raised}; border: 1px solid {line}; border-radius: 6px; }}

QPushButton, QToolButton[role="quiet"], QToolButton[role="primary"], QToolButton[role="danger"] {{
    background: {raised}; color: {text}; border: 1px solid {line}; border-radius: 6px;
    padding: 5px 12px; min-height: 18px;
}}
QPushButton:hover, QToolButton[role="quiet"]:hover {{ border-color: {control}; }}
QPushButton:pressed, QPushButton:checked, QToolButton[role="quiet"]:checked {{
    background: {line}; border-color: {control};
}}
QPushButton:focus, QToolButton:focus {{ border: 2px solid {focus}; padding: 4px 11px; }}
QPushButton:disabled, QToolButton:disabled {{ color: {control}; }}
QPushButton[role="primary"] {{
    background: {accent}; color: {accent_text}; border-color: {accent}; font-weight: 600;
}}
QPushButton[role="primary"]:hover {{ border-color: {text}; }}
QPushButton[role="primary"]:focus {{ border: 2px solid {text}; }}
QPushButton[role="primary"]:disabled {{ background: {raised}; color: {control}; border-color: {line}; }}
QPushButton[role="danger"] {{ color: {danger}; border-color: {danger}; }}
QPushButton[role="quiet"], QToolButton[role="quiet"] {{ background: transparent; border-color: transparent; }}
QPushButton[role="quiet"]:hover, QToolButton[role="quiet"]:hover {{ background: {raised}; }}
QPushButton[role="quiet"]:focus, QToolButton[role="quiet"]:focus {{ border: 2px solid {focus}; }}
QToolButton[role="quiet"] {{ padding: 4px; }}
QToolButton[role="quiet"]:focus {{ padding: 3px; }}
QToolButton[role="line"] {{
    background: transparent; color: {text}; border: 1px solid transparent; border-radius: 6px;
    padding: 5px 4px; text-align: left;
}}
QToolButton[role="line"]:hover {{ background: {raised}; }}
QToolButton[role="line"]:disabled {{ color: {control}; }}
QToolButton[role="line"]:focus {{ padding: 4px 3px; }}
QToolButton[role="tab"] {{
    background: transparent; color: {muted}; border: 2px solid transparent; border-radius: 8px;
    padding: 6px 4px; font-size: 11px;
}}
QToolButton[role="tab"]:hover {{ background: {window}; color: {text}; }}
QToolButton[role="tab"]:checked {{ background: {raised}; color: {accent}; font-weight: 600; }}
QToolButton[role="tab"]:focus {{ border-color: {focus}; padding: 6px 4px; }}

QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox {{
    background: {surface}; color: {text}; border: 1px solid {control}; border-radius: 6px; padding: 4px 6px;
    selection-background-color: {accent}; selection-color: {accent_text};
}}
QLineEdit, QComboBox {{ min-height: 20px; }}
QSpinBox, QDoubleSpinBox {{ min-height: 17px; }}
QComboBox {{ padding: 3px 6px; min-height: 22px; }} /* as with the focus, or open lists have no room for all */
QLineEdit[tall="true"], QPushButton[tall="true"] {{ min-height: 28px; }}
QLineEdit {{ padding: 4px; }}
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus {{
    border: 2px solid {focus}; padding: 3px 5px;
}}
QLineEdit:focus {{ padding: 3px; }}
QComboBox:focus {{ padding: 3px 5px; min-height: 20px; }}
QLineEdit:disabled, QPlainTextEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled {{
    color: {control}; background: {window}; border-color: {line};
}}
QLineEdit {{ placeholder-text-color: {muted}; }}
QPlainTextEdit {{ placeholder-text-color: {muted}; }}
QComboBox::drop-down {{ border: none; width: 24px; }}
QComboBox::down-arrow {{ image: url("{marks}/down-{name}.svg"); width: 14px; height: 14px; }}
QSpinBox::up-button, QDoubleSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::down-button {{
    border: none; background: transparent; width: 18px;
}}
QSpinBox::up-button, QDoubleSpinBox::up-button {{ subcontrol-origin: border; subcontrol-position: top right; }}
QSpinBox::down-button, QDoubleSpinBox::down-button {{ subcontrol-origin: border; subcontrol-position: bottom right; }}
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow {{ image: url("{marks}/up-{name}.svg"); width: 11px; height: 11px; }}
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow {{
    image: url("{marks}/down-{name}.svg"); width: 11px; height: 11px;
}}
QComboBox QAbstractItemView {{ background: {surface}; color: {text}; border: 1px solid {line}; }}
QSpinBox, QDoubleSpinBox {{ padding: 4px 20px 4px 6px; }}
QSpinBox:focus, QDoubleSpinBox:focus {{ padding: 3px 19px 3px 5px; }}
QCheckBox, QRadioButton {{ spacing: 8px; border: 2px solid transparent; border-radius: 6px; padding: 2px; }}
QCheckBox::indicator, QRadioButton::indicator, QAbstractItemView::indicator {{
    width: 14px; height: 14px; background: {surface}; border: 1px solid {control}; border-radius: 4px;
}}
QRadioButton::indicator {{ border-radius: 8px; }}
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked {{
    background: {accent}; border-color: {accent}; image: url("{marks}/checked-{name}.svg");
}}
QRadioButton::indicator:checked {{ width: 6px; height: 6px; border: 5px solid {accent}; }}
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled {{ border-color: {line}; background: {raised}; }}

QAbstractItemView {{
    background: {surface}; color: {text}; border: 1px solid {line}; border-radius: 6px; outline: none;
}}
QAbstractItemView:focus {{ border: 2px solid {focus}; }}
QListView[role="strip"] {{ background: transparent; border: 2px solid transparent; }}
QListView[role="strip"]:focus {{ border-color: {focus}; }}
QListView[role="strip"]::item {{ padding: 4px; border-radius: 6px; }}
QTableView::item {{ padding: 2px 8px; }}
QListWidget::item {{ padding: 6px 8px; }}
QAbstractItemView::item:selected {{ background: {selected}; color: {text}; }}
QComboBox QAbstractItemView::item:selected {{ background: {accent}; color: {accent_text}; }}
QHeaderView {{ background: transparent; border: none; border-radius: 0; }}
QHeaderView::section {{
    background: {window}; color: {muted}; border: none; border-bottom: 1px solid {line}; padding: 6px 10px;
}}
QScrollArea {{ border: none; background: transparent; }}
QScrollArea:focus {{ border: 1px solid {focus}; }}
QScrollArea > QWidget > QWidget[role="form"] {{ background: transparent; }}
QScrollBar:vertical {{ background: transparent; width: 12px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 12px; margin: 0; }}
QScrollBar::handle {{ background: {control}; border-radius: 4px; margin: 2px; }}
QScrollBar::handle:vertical {{ min-height: 32px; }}
QScrollBar::handle:horizontal {{ min-width: 32px; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}

QProgressBar {{
    background: {raised}; color: {text}; border: none; border-radius: 4px; min-height: 8px; text-align: center;
}}
QProgressBar::chunk {{ background: {accent}; border-radius: 4px; }}
QSlider::groove:horizontal {{ background: {line}; height: 4px; border-radius: 2px; }}
QSlider::sub-page:horizontal {{ background: {accent}; height: 4px; border-radius: 2px; }}
QSlider::handle:horizontal {{
    background: {accent}; width: 14px; height: 14px; margin: -5px 0; border-radius: 7px;
}}
QSlider::handle:horizontal:focus {{ border: 2px solid {text}; }}
QCheckBox:focus, QRadioButton:focus {{ border-color: {focus}; }}
QGroupBox {{ border: none; margin-top: 20px; font-weight: 600; }}
QGroupBox::title {{ subcontrol-origin: margin; left: 0; top: 0; }}
QSplitter::handle {{ background: transparent; }}
QSplitter::handle:horizontal {{ width: 12px; image: url("{marks}/grip-{name}.svg"); }}
QSplitter::handle:vertical {{ height: 12px; image: url("{marks}/grip-flat-{name}.svg"); }}
QSplitter::handle:hover {{ background: {raised}; }}
QMenu {{ background: {surface}; color: {text}; border: 1px solid {line}; padding: 4px; }}
QMenu::item {{ padding: 5px 24px 5px 12px; border-radius: 4px; }}
QMenu::item:selected {{ background: {accent}; color: {accent_text}; }}
QMenu::item:disabled {{ color: {control}; }}
QMenu::separator {{ background: {line}; height: 1px; margin: 4px 8px; }}
QFrame[role="foot"] {{ background: {surface}; border: none; border-top: 1px solid {line}; }}
QTabBar::tab {{ background: transparent; color: {muted}; padding: 6px 12px; border-bottom: 2px solid transparent; }}
QTabBar::tab:selected {{ color: {text}; border-bottom-color: {accent}; }}
QTabBar::tab:focus {{ color: {focus}; }}
QTabWidget::pane {{ border: none; }}
"""


def stylesheet(colours: dict[str, str], name: str) -> str:
    """The stylesheet with these colours; `name` is the theme's, light or dark."""
    return _SHEET.format(**colours, marks=_marks(), name=name)


@cache
def _marks() -> str:
    return (paths.assets_folder() / "icons" / "marks").as_posix()
