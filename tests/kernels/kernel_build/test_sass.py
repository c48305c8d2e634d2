"""Machine code, as nvdisasm shows it."""

from collections import Counter

from kernel_build.sass import count, parse_sass

# Recorded from a kernel with one loop; what is between is left out.
POWERS = """\
\t.section\t.nv.info.powers,"",@"SHT_CUDA_INFO"
        /*0000*/ \t.byte\t0x04, 0x2f
\t.section\t.text.powers,"ax",@progbits
\t.sectioninfo\t@"SHI_REGISTERS=11"
powers:
.text.powers:
        /*0000*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;
        /*0070*/                   LDG.E R5, [R2.64] ;
        /*0080*/              @!P0 BRA `(.L_x_0) ;
.L_x_1:
        /*00b0*/                   STS [R8], R5 ;
        /*0120*/              @!P1 LDS R6, [R6] ;
        /*0130*/                   MUFU.EX2 R5, R6 ;
        /*0140*/              @!P0 BRA `(.L_x_1) ;
.L_x_0:
        /*0150*/                   STG.E [R2.64], R5 ;
        /*0160*/                   EXIT ;
.L_x_2:
        /*0170*/                   BRA `(.L_x_2);
        /*0180*/                   NOP;
.L_x_3:
"""


def test_instructions_are_counted_everywhere_and_in_loops():
    code = parse_sass(POWERS)["powers"]
    assert code.everywhere["LDG.E"] == 1
    assert code.everywhere["BRA"] == 3
    assert code.in_loops == Counter({"STS": 1, "LDS": 1, "MUFU.EX2": 1, "BRA": 2})


def test_what_is_skipped_without_a_product_is_not_usual():
    skipped = """\
              @!P2 BRA `(.L_x_5) ;
        /*0131*/                   {} ;
        /*0132*/                   FMUL R5, R5, R6 ;
.L_x_5:
"""
    begin = "        /*0140*/"
    products = POWERS.replace("MUFU.EX2", "HMMA.1688")
    rare = products.replace(begin, "        /*0130*/" + skipped.format("SHFL.BFLY PT, R5, R6, 0x1, 0x1f") + begin)
    code = parse_sass(rare)["powers"]
    assert code.usual == Counter({"STS": 1, "LDS": 1, "HMMA.1688": 1, "BRA": 1 + 1})
    assert code.in_loops == code.usual + Counter({"SHFL.BFLY": 1, "FMUL": 1, "BRA": 1})  # the endless one at the end
    work = POWERS.replace(begin, "        /*0130*/" + skipped.format("LDGSTS.E [R5], [R2.64]") + begin)
    assert parse_sass(work)["powers"].usual == parse_sass(work)["powers"].in_loops - Counter({"BRA": 1})


def test_of_loops_within_loops_of_four_warps_products_only_the_inner_ones_are_usual():
    inner = POWERS.replace("MUFU.EX2", "HGMMA.64x64x16.F32").replace("`(.L_x_2)", "`(.L_x_9)")
    code = parse_sass(inner.replace("        /*0070*/", ".L_x_9:\n        /*0070*/"))["powers"]
    assert code.usual == Counter({"STS": 1, "LDS": 1, "HGMMA.64x64x16.F32": 1, "BRA": 1})
    assert code.in_loops["LDG.E"] == 1


def test_a_wait_behind_the_end_is_no_loop_around_what_follows_the_branch_to_it():
    wait = """\
        /*0142*/              @!P3 BRA `(.L_x_7) ;
.L_x_6:
        /*0144*/                   FADD R5, R5, R5 ;
.L_x_0:
"""
    detour = """\
.L_x_7:
        /*0164*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P3, [R2], R3 ;
        /*0166*/              @!P3 BRA `(.L_x_7) ;
        /*0168*/                   BRA `(.L_x_6) ;
.L_x_2:
"""
    products = POWERS.replace("MUFU.EX2", "HGMMA.64x64x16.F32")
    code = parse_sass(products.replace(".L_x_0:\n", wait).replace(".L_x_2:\n", detour))["powers"]
    assert code.everywhere["FADD"] == 1
    assert not code.in_loops["FADD"]
    assert code.in_loops["SYNCS.PHASECHK.TRANS64.TRYWAIT"] == 1
    assert code.usual["HGMMA.64x64x16.F32"] == 1


def test_a_loop_without_products_is_not_usual():
    code = parse_sass(POWERS)["powers"]
    assert code.in_loops and not code.usual


def test_every_kernel_is_apart():
    other = POWERS.replace("powers", "others").replace("LDG.E", "LDL.LU")
    both = parse_sass(POWERS + other)
    assert set(both) == {"powers", "others"}
    assert count(both["powers"].everywhere, "LDL") == 0
    assert count(both["others"].everywhere, "LDL") == 1


def test_an_instruction_is_counted_with_all_its_forms_and_no_other():
    counts = Counter({"LDG.E": 2, "LDG.E.64": 3, "LDGSTS.E": 5, "LDGDEPBAR": 7, "MUFU.EX2": 1, "MUFU.RCP": 1})
    assert count(counts, "LDG") == 5
    assert count(counts, "LDGSTS") == 5
    assert count(counts, "MUFU.EX2") == 1


def test_nothing_is_found_in_nothing():
    assert parse_sass("") == {}
