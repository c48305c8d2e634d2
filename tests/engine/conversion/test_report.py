"""Sums over what was done."""

from mezzotint.conversion.report import ComponentReport, ConversionReport, LayerReport


def layer(scheme, error):
    return LayerReport(component="unet", name="a", scheme=scheme, bytes_before=8, bytes_after=3, error=error)


def part(*layers):
    return ComponentReport(name="unet", bytes_before=100, bytes_after=40, layers=layers)


def test_layers_are_counted_by_scheme_and_their_errors_averaged():
    whole = part(layer("int8", 0.1), layer("int4", 0.3), layer("int8", 0.2))
    assert whole.schemes == {"int8": 2, "int4": 1}
    assert abs(whole.error - 0.2) < 1e-12


def test_a_part_that_was_copied_has_no_error():
    assert part().schemes == {} and part().error == 0


def test_bytes_are_those_of_all_parts():
    report = ConversionReport(output="small", scheme="int8", components=(part(), part(layer("int8", 0))))
    assert (report.bytes_before, report.bytes_after) == (200, 80)
