"""What `bound` says, against what NVIDIA publishes: peaks of data sheets, rates of the programming guide."""

import unittest

import bound
import gpus
import sass
import units


def instruction(text: str) -> sass.Instruction:
    opcode, _, operands = text.partition(" ")
    return sass.Instruction(opcode, operands)


class Figures(unittest.TestCase):
    def peak(self, gpu: str, kind: str) -> float:
        """10^12 operations a second."""
        g = gpus.table()[gpu]
        return 2 * g.multiply_adds(kind) * g["sms"] * g["peak_mhz"] / 1e6

    def test_tensor_peaks_are_those_of_the_data_sheets(self):
        for gpu, kind, published in [
            ("T4", "f16", 65), ("A100", "f16", 312), ("A100", "tf32", 156), ("A100", "s8", 624), ("A100", "f64", 19.5),
            ("RTX-4090", "f16>f32", 165.2), ("RTX-4090", "f16", 330.3), ("RTX-4090", "e4m3>f32", 330.3),
            ("H100-SXM", "f16", 989.4), ("H100-SXM", "tf32", 494.7), ("H100-SXM", "e4m3", 1978.9), ("H100-SXM", "s8", 1978.9),
            ("B200", "f16", 2250), ("B200", "e4m3", 4500), ("B200", "e2m1", 9000),
            ("RTX-5090", "f16>f32", 209.5), ("RTX-5090", "e2m1", 1676),
        ]:  # fmt: skip
            with self.subTest(gpu=gpu, kind=kind):
                self.assertAlmostEqual(self.peak(gpu, kind) / published, 1, delta=0.005)

    def test_single_precision_peaks_are_those_of_the_data_sheets(self):
        for gpu, published in [("T4", 8.1), ("A100", 19.5), ("RTX-4090", 82.6), ("H100-SXM", 66.9), ("RTX-5090", 104.8)]:
            with self.subTest(gpu=gpu):
                g = gpus.table()[gpu]
                self.assertAlmostEqual(2 * g["f32"] * g["sms"] * g["boost_mhz"] / 1e6 / published, 1, delta=0.01)

    def test_each_figure_has_a_source(self):
        for name, gpu in gpus.table().items():
            for figure, row in {**gpu.figures, **gpu.tensor}.items():
                with self.subTest(gpu=name, figure=figure):
                    self.assertIn("source", row)
                    self.assertTrue(row["source"] != "estimated" or row.get("note"))


class Units(unittest.TestCase):
    def cycles(self, text: str, gpu: str, unit: str) -> float:
        return units.cycles(instruction(text), gpus.table()[gpu])[unit]

    def test_matrix_instructions(self):
        # A tensor core of A100 does 256 multiply-adds a clock: 8 cycles, and a multiprocessor has four.
        self.assertEqual(self.cycles("HMMA.16816.F32 R4, R8, R10, R4", "A100", "tensor"), 8 / 4)
        self.assertEqual(self.cycles("IMMA.16832.S8.S8 R4, R8, R10, R4", "A100", "tensor"), 8 / 4)
        self.assertEqual(self.cycles("HMMA.1688.F32.TF32 R4, R8, R10, R4", "A100", "tensor"), 8 / 4)
        # GeForce halves the rate with a single-precision accumulator.
        self.assertEqual(self.cycles("HMMA.16816.F32 R4, R8, R10, R4", "RTX-4090", "tensor"), 8)
        self.assertEqual(self.cycles("HMMA.16816.F16 R4, R8, R10, R4", "RTX-4090", "tensor"), 4)
        # arXiv 2402.13499: m64n256k16 takes 128 cycles, of all four warps.
        self.assertEqual(4 * self.cycles("HGMMA.64x256x16.F32 R24, gdesc[UR4], R24", "H100-SXM", "tensor"), 128)
        self.assertEqual(4 * self.cycles("QGMMA.64x256x32.F32.E4M3.E4M3 R24, gdesc[UR4], R24", "H100-SXM", "tensor"), 128)

    def test_operands_of_wgmma_come_from_shared_memory(self):
        both, right = "HGMMA.64x256x16.F32 R24, gdesc[UR4], R24", "HGMMA.64x256x16.F32 R24, R4, gdesc[UR4], R24"
        self.assertEqual(4 * self.cycles(both, "H100-SXM", "shared"), (64 + 256) * 16 * 2 / 128)
        self.assertEqual(4 * self.cycles(right, "H100-SXM", "shared"), 256 * 16 * 2 / 128)

    def test_matmuls_in_tensor_memory(self):
        def cycles(opcode: str, left: str, m: int, n: int, element: int = 0) -> units.Counter:
            # PTX ISA, instruction descriptor: the element type of A in bits 7 to 9, N / 8 in 17 to 22, M / 16 in 24 to 28.
            shape = element << 7 | n // 8 << 17 | m // 16 << 24
            found = sass.Instruction(opcode, f"{left}[UR4], gdesc[UR6], tmem[UR8], tmem[UR10], idesc[UR11], UPT", "", shape)
            return units.cycles(found, gpus.table()["B200"])

        # 2.25 PFLOP/s in f16 are 4096 multiply-adds a clock of a multiprocessor: 128 cycles for 128 × 256 × 16.
        whole = cycles("UTCHMMA", "gdesc", 128, 256)
        self.assertEqual((whole["tensor"], whole["shared"]), (128, (128 + 256) * 32 / 128))
        # Half as many rows take as long; from tensor memory the left operand costs shared memory nothing.
        half = cycles("UTCHMMA", "tmem", 64, 256)
        self.assertEqual((half["tensor"], half["shared"]), (128, 256 * 32 / 128))
        # A pair's blocks have half of the rows and bring half of the columns each.
        pair = cycles("UTCHMMA.2CTA", "gdesc", 256, 256)
        self.assertEqual((pair["tensor"], pair["shared"]), (128, (128 + 128) * 32 / 128))
        # TF32 is half as fast at half the depth, f8 twice as fast at twice, f4 four times.
        self.assertEqual(cycles("UTCHMMA", "gdesc", 128, 256, element=2)["tensor"], 128)
        self.assertEqual(cycles("UTCQMMA", "gdesc", 128, 256)["tensor"], 128)
        self.assertEqual(cycles("UTCOMMA.4X", "gdesc", 128, 256)["tensor"], 128)

    def test_arithmetic(self):
        self.assertEqual(self.cycles("FFMA R0, R1, R2, R3", "A100", "fma"), 32 / 64)
        self.assertEqual(self.cycles("FFMA R0, R1, R2, R3", "H100-SXM", "fma"), 32 / 128)
        self.assertEqual(self.cycles("MUFU.EX2 R0, R1", "H100-SXM", "special"), 32 / 16)
        self.assertEqual(self.cycles("DFMA R0, R2, R4, R6", "RTX-4090", "double"), 32 / 2)
        self.assertEqual(self.cycles("IADD3 R0, R1, R2, R3", "A100", "alu"), 32 / 64)
        self.assertEqual(self.cycles("SHFL.BFLY PT, R0, R1, 0x1, 0x1f", "A100", "memory issue"), 1)
        self.assertEqual(self.cycles("BRA `(.L_x_1)", "A100", "issue"), 1 / 4)

    def test_shared_memory_moves_128_bytes_a_cycle(self):
        self.assertEqual(self.cycles("LDSM.16.M88.4 R0, [R1]", "A100", "shared"), 4)
        self.assertEqual(self.cycles("LDS.128 R0, [R1]", "A100", "shared"), 4)
        self.assertEqual(self.cycles("STS.U16 [R1], R0", "A100", "shared"), 1)
        self.assertEqual(self.cycles("LDGSTS.E.BYPASS.LTC128B.128 [R1], desc[UR4][R2.64]", "A100", "shared"), 4)


PRODUCT = """
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_0:
        /*0010*/                   LDSM.16.M88.4 R4, [R40] ;
        /*0020*/                   LDSM.16.M88.4 R8, [R41] ;
        /*0030*/                   HMMA.16816.F32 R12, R4, R8, R12 ;
        /*0040*/                   HMMA.16816.F32 R16, R4, R10, R16 ;
        /*0050*/                   LDGSTS.E.BYPASS.128 [R42], [R44.64] ;
        /*0060*/              @P0  BRA `(.L_x_0) ;
        /*0070*/                   EXIT ;
"""
COPY = """
.L_x_0:
        /*0010*/                   LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0020*/                   STG.E.128 desc[UR4][R8.64], R4 ;
        /*0030*/              @P0  BRA `(.L_x_0) ;
        /*0040*/                   EXIT ;
"""


TENSOR_MEMORY = """
        /*0000*/                   UMOV UR5, 0x8410010 ;
        /*0010*/                   UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR12], tmem[UR4], idesc[UR5], UP0 ;
        /*0020*/                   UIADD3 UR5, UPT, UPT, UR6, 0x1, URZ ;
        /*0030*/                   UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR12], tmem[UR4], idesc[UR5], UP0 ;
        /*0040*/                   EXIT ;
"""


class Loops(unittest.TestCase):
    def analyse(self, text: str, gpu: str, stats: dict | None = None) -> bound.Bound:
        return bound.analyse(bound.hottest(sass.parse(text)), gpus.table()[gpu], stats)

    def test_a_product_that_shared_memory_binds(self):
        found = self.analyse(PRODUCT, "A100")
        self.assertEqual((found.instructions, found.work), (6, 2 * 16 * 8 * 16))
        self.assertEqual(found.cycles["tensor"], 4)
        # Two ldmatrix of 512 bytes, and 512 bytes that a copy writes: 12 passes; from L2 it is 512 bytes.
        self.assertEqual(found.cycles["shared"], 12)
        self.assertAlmostEqual(found.cycles["L2"], 512 / (3000 / 108))
        self.assertEqual(found.unit, "L2")
        self.assertAlmostEqual(found.tensor_share, 4 / (512 / (3000 / 108)))

    def test_conflicts_add_passes(self):
        stats = dict(shared_accesses=10, bank_conflicts=30, matrix_multiply_adds=0, async_bytes=0)
        self.assertEqual(self.analyse(PRODUCT, "A100", stats).cycles["shared"], 12 + 2 * 3)

    def test_a_copy(self):
        found = self.analyse(COPY, "H100-SXM")
        self.assertEqual((found.unit, found.tensor_share, found.work), ("L2", None, 0))
        # Little's law: what arrives a cycle times the cycles that it takes.
        self.assertAlmostEqual(found.in_flight("l2_latency"), 5860 / 132 * 263.0)

    def test_four_warps_that_read_tensor_memory_share_a_matmul(self):
        load = "        /*0018*/                   LDTM.x32 R4, tmem[UR4] ;\n        /*0020*/"
        found = self.analyse(TENSOR_MEMORY.replace("        /*0020*/", load), "B200")
        self.assertEqual((found.work, found.cycles["tensor"]), (128 * 256 * 16 // 4, 128 / 4))

    def test_a_descriptor_that_is_computed_is_not_guessed(self):
        found = self.analyse(TENSOR_MEMORY, "B200")
        self.assertEqual(found.work, 128 * 256 * 16)
        self.assertTrue(any("not counted" in note for note in found.notes))

    def test_a_rate_that_nobody_states_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "T4 has no figure for DMMA"):
            units.cycles(instruction("DMMA.884 R0, R2, R4, R6"), gpus.table()["T4"])


if __name__ == "__main__":
    unittest.main()
