#include "ops/einsum.h"
#include "ops/gemm.h"
#include "unit/providers/same_kernels.h"

namespace tenon::test {
namespace {

Tensor doubles_of(const Tensor& t) {
  return Tensor::of<double>(t.dims(), std::vector<double>(t.as<float>().begin(), t.as<float>().end()));
}

double element(const Tensor& t, size_t i) {
  return t.dtype() == DType::Float64 ? t.as<double>()[i] : double{t.as<float>()[i]};
}

// Sums of `terms` products may differ by a rounding of each partial sum, in the arithmetic of their type.
void check_products(OpId op, const Params& params, const std::vector<Tensor>& inputs, const std::vector<int64_t>& dims,
                    int64_t terms, const Params& of_sizes) {
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    SCOPED_TRACE(std::string(dtype_name(dtype)));
    std::vector<Tensor> in, sizes;
    for (const Tensor& t : inputs) {
      in.push_back(t.defined() && dtype == DType::Float64 ? doubles_of(t) : t);
      sizes.push_back(t.defined() && dtype == DType::Float64 ? doubles_of(absolute(t)) : absolute(t));
    }
    const std::vector<OutputType> out{{dtype, dims}};
    const TypedRun expected = run_reference(op, params, in, out);
    ASSERT_TRUE(expected.status.ok()) << expected.status.to_string();
    const Tensor size = run_reference(op, of_sizes, sizes, out).outputs[0];
    const double unit = std::ldexp(1.0, dtype == DType::Float64 ? -53 : -24);
    for_each_cpu_run(op, params, in, out, [&](const TypedRun& actual) {
      ASSERT_TRUE(actual.status.ok()) << actual.status.to_string();
      for (size_t i = 0; i < static_cast<size_t>(size.size()); ++i)
        ASSERT_NEAR(element(actual.outputs[0], i), element(expected.outputs[0], i),
                    unit * static_cast<double>(terms + 4) * element(size, i))
            << "element " << i;
    });
  }
}

void check_gemm(int64_t m, int64_t n, int64_t k, GemmParams p, const std::vector<int64_t>& bias) {
  SCOPED_TRACE(testing::Message() << m << "x" << k << " * " << k << "x" << n << ", bias of rank " << bias.size());
  GemmParams of_sizes = p;
  of_sizes.alpha = std::fabs(p.alpha);
  of_sizes.beta = std::fabs(p.beta);
  check_products(OpId::Gemm, Params::of(p),
                 {noise(p.transA ? std::vector<int64_t>{k, m} : std::vector<int64_t>{m, k}, 1),
                  noise(p.transB ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n}, 2), noise(bias, 3)},
                 {m, n}, k, Params::of(of_sizes));
}

TEST(DenseGemm, TakesEveryExtent) {
  for (const int64_t m : {1, 2, 3, 8, 9, 17, 100})
    for (const int64_t n : {1, 15, 16, 17, 33, 64}) check_gemm(m, n, 5, {}, {n});
  for (const int64_t k : {1, 255, 256, 257, 600}) check_gemm(5, 40, k, {}, {});
  check_gemm(200, 300, 30, {}, {1, 300});
}

TEST(DenseGemm, TransposesScalesAndAdds) {
  for (const bool a : {false, true})
    for (const bool b : {false, true})
      for (const auto& bias : {std::vector<int64_t>{}, {1}, {37}, {20, 1}, {20, 37}, {1, 37}})
        check_gemm(20, 37, 300, {.alpha = -0.5f, .beta = 2.0f, .transA = a, .transB = b}, bias);
}

TEST(DenseGemm, RunsWithoutBias) {
  check_products(OpId::Gemm, Params::of(GemmParams{.alpha = 3}), {noise({4, 5}, 1), noise({5, 6}, 2)}, {4, 6}, 5,
                 Params::of(GemmParams{.alpha = 3}));
}

TEST(DenseMatMul, MultipliesBatchesOfDoubles) {
  const auto check = [](const std::vector<int64_t>& a, const std::vector<int64_t>& b, const std::vector<int64_t>& y) {
    check_products(OpId::MatMul, default_params(OpId::MatMul), {noise(a, 1), noise(b, 2)}, y, a.back(),
                   default_params(OpId::MatMul));
  };
  check({5, 7}, {7, 9}, {5, 9});
  check({7}, {7}, {});
  check({7}, {7, 9}, {9});
  check({5, 7}, {7}, {5});
  check({3, 1, 5, 7}, {4, 7, 9}, {3, 4, 5, 9});
  check({2, 150, 300}, {300, 70}, {2, 150, 70});
}

void check_einsum(const std::string& equation, const std::vector<std::vector<int64_t>>& dims,
                  const std::vector<int64_t>& out, int64_t terms) {
  SCOPED_TRACE(equation);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < dims.size(); ++i) inputs.push_back(noise(dims[i], static_cast<uint32_t>(i + 1)));
  const Params p = Params::of(EinsumParams{.equation = equation});
  check_products(OpId::Einsum, p, inputs, out, terms + static_cast<int64_t>(dims.size()), p);
}

TEST(Einsum, MultipliesPairs) {
  check_einsum("ij,jk->ik", {{30, 40}, {40, 50}}, {30, 50}, 40);
  check_einsum("ij,kj->ki", {{30, 40}, {50, 40}}, {50, 30}, 40);
  check_einsum("bqhd,bkhd->bhqk", {{2, 9, 3, 16}, {2, 11, 3, 16}}, {2, 3, 9, 11}, 16);
  check_einsum("bhqk,bkhd->bqhd", {{2, 3, 9, 11}, {2, 11, 3, 16}}, {2, 9, 3, 16}, 11);
  check_einsum("abcd,cdef->abef", {{3, 4, 5, 6}, {5, 6, 4, 7}}, {3, 4, 4, 7}, 30);
  check_einsum("abcd,dcef->aebf", {{3, 4, 5, 6}, {6, 5, 4, 7}}, {3, 4, 4, 7}, 30);
  check_einsum("ij,jk", {{3, 4}, {4, 5}}, {3, 5}, 4);
  check_einsum("...ij,...jk->...ik", {{2, 1, 3, 4}, {5, 4, 6}}, {2, 5, 3, 6}, 4);
  check_einsum("ab,cd->acbd", {{3, 40}, {5, 60}}, {3, 5, 40, 60}, 1);
}

TEST(Einsum, MultipliesRowsAndElements) {
  check_einsum("ij,ij->i", {{30, 41}, {30, 41}}, {30}, 41);
  check_einsum("ij,ij->ij", {{30, 41}, {30, 41}}, {30, 41}, 1);
  check_einsum("ij,j->i", {{30, 41}, {41}}, {30}, 41);
  check_einsum("i,ij->j", {{30}, {30, 41}}, {41}, 30);
  check_einsum("i,i->", {{300}, {300}}, {}, 300);
  check_einsum("i,j->ij", {{30}, {40}}, {30, 40}, 1);
  check_einsum("i,j->ji", {{30}, {40}}, {40, 30}, 1);
  check_einsum("bij,bj->bi", {{5, 30, 41}, {5, 41}}, {5, 30}, 41);
}

TEST(Einsum, SumsWhatOneOperandHasAlone) {
  check_einsum("ij,kl->ik", {{5, 6}, {7, 8}}, {5, 7}, 48);
  check_einsum("ij,k->", {{5, 6}, {7}}, {}, 210);
  check_einsum("ijm,jkn->ik", {{5, 20, 3}, {20, 30, 4}}, {5, 30}, 240);
}

TEST(Einsum, TakesDiagonalsAndAxesOfOne) {
  check_einsum("ii,ij->ij", {{6, 6}, {6, 7}}, {6, 7}, 1);
  check_einsum("bii,bij->bj", {{2, 20, 20}, {2, 20, 30}}, {2, 30}, 20);
  check_einsum("ij,jk->ik", {{5, 1}, {6, 7}}, {5, 7}, 6);
  check_einsum("bij,bjk->bik", {{1, 5, 6}, {3, 6, 7}}, {3, 5, 7}, 6);
}

TEST(Einsum, TakesOneOperand) {
  check_einsum("ij->ji", {{5, 6}}, {6, 5}, 1);
  check_einsum("ij->i", {{5, 6}}, {5}, 6);
  check_einsum("ii->i", {{6, 6}}, {6}, 1);
  check_einsum("ii", {{6, 6}}, {}, 6);
  check_einsum("abc->cb", {{4, 5, 6}}, {6, 5}, 4);
}

TEST(Einsum, GoesThroughThreeOperands) {
  check_einsum("bi,oij,bj->bo", {{5, 20}, {6, 20, 30}, {5, 30}}, {5, 6}, 600);
  check_einsum("ij,jk,kl->il", {{5, 20}, {20, 30}, {30, 9}}, {5, 9}, 600);
  check_einsum("ij,jk,ik->k", {{5, 20}, {20, 30}, {5, 30}}, {30}, 100);
  check_einsum("a,b,c,d->dbca", {{2}, {3}, {4}, {5}}, {5, 3, 4, 2}, 1);
}

TEST(Einsum, CutsLargeProducts) {
  check_einsum("bij,bjk->bik", {{2, 120, 300}, {2, 300, 150}}, {2, 120, 150}, 300);
  check_einsum("ij,ij->i", {{2000, 20}, {2000, 20}}, {2000}, 20);
}

}  // namespace
}  // namespace tenon::test
