// Elementwise ops on integers, truth values and doubles give the reference's elements, to the bit.
#include <cmath>

#include "ops/arithmetic.h"
#include "ops/bitwise.h"
#include "ops/cast.h"
#include "unit/providers/run_kernel.h"

namespace tenon::test {
namespace {

// Elements of any type: all bits at random, and those where types end.
Tensor any_elements(DType dtype, const std::vector<int64_t>& dims, uint32_t seed) {
  Tensor t = *Tensor::allocate(dtype, dims, std::make_shared<MemoryBudget>(int64_t{1} << 30));
  auto* bytes = static_cast<uint8_t*>(const_cast<void*>(t.data()));
  uint32_t state = seed * 2654435761u + 99;
  for (int64_t i = 0; i < t.bytes(); ++i) {
    state = state * 1664525u + 1013904223u;
    bytes[i] = static_cast<uint8_t>(state >> 24);
    if (dtype == DType::Bool) bytes[i] &= 1;
  }
  const auto write = [&]<class T>(T) {
    constexpr bool kIsFloat = std::is_floating_point_v<T>;
    const T ends[] = {T(0),
                      T(1),
                      static_cast<T>(-1),
                      std::numeric_limits<T>::lowest(),
                      std::numeric_limits<T>::max(),
                      T(7),
                      kIsFloat ? static_cast<T>(HUGE_VAL) : T(100),
                      kIsFloat ? static_cast<T>(-HUGE_VAL) : T(3),
                      kIsFloat ? static_cast<T>(std::nan("")) : T(5),
                      kIsFloat ? static_cast<T>(2.5) : T(2)};
    for (int64_t i = 0; i < t.size(); ++i) {
      state = state * 1664525u + 1013904223u;
      auto* elements = reinterpret_cast<T*>(bytes);
      if (state >> 30 == 0) elements[i] = ends[(state >> 8) % std::size(ends)];
      // Numbers that casts to integers keep.
      if (kIsFloat && state >> 30 == 1) elements[i] = static_cast<T>(static_cast<int32_t>(state) / 1000);
    }
  };
  switch (dtype) {
#define TYPE(name, type) \
  case DType::name:      \
    write(type());       \
    break;
    TYPE(Int8, int8_t)
    TYPE(Int16, int16_t)
    TYPE(Int32, int32_t)
    TYPE(Int64, int64_t)
    TYPE(UInt8, uint8_t)
    TYPE(UInt16, uint16_t)
    TYPE(UInt32, uint32_t)
    TYPE(UInt64, uint64_t)
    TYPE(Float32, float)
    TYPE(Float64, double)
#undef TYPE
    default:
      break;
  }
  return t;
}

Tensor run_typed(const std::string& provider, OpId op, const Params& params, const std::vector<Tensor>& inputs,
                 DType result, ThreadPool* pool = nullptr) {
  const auto dims = output_dims(op, params, inputs);
  EXPECT_TRUE(dims.ok()) << dims.status().to_string();
  KernelRun services(pool);
  Tensor out = *Tensor::allocate(result, *dims, services.budget());
  std::vector<TensorView> in;
  for (const Tensor& t : inputs) in.push_back(t.view());
  const std::vector<const Value*> boxed(in.size(), nullptr);
  const std::vector<TensorView> outputs{out.view()};
  const auto* family = find_family(provider + "/" + std::string(op_def(op).name));
  const Status status = call_kernel(*family, params, in, boxed, outputs, services, isa_of_tests());
  EXPECT_TRUE(status.ok()) << status.to_string();
  return out;
}

template <class T>
void expect_same_floats(const Tensor& a, const Tensor& b) {
  for (size_t i = 0; i < static_cast<size_t>(a.size()); ++i) {
    const T x = a.as<T>()[i], y = b.as<T>()[i];
    ASSERT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << x << " instead of " << y << " at " << i;
  }
}

void check_typed(OpId op, const Params& params, const std::vector<Tensor>& inputs, DType result) {
  SCOPED_TRACE(std::string(op_def(op).name) + " of " + std::string(dtype_name(inputs[0].dtype())) + " to " +
               std::string(dtype_name(result)));
  const Tensor expected = run_typed("reference", op, params, inputs, result);
  ThreadPool pool(1);
  for_each_isa([&] {
    for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
      const Tensor got = run_typed("cpu", op, params, inputs, result, threads);
      if (result == DType::Float64)
        expect_same_floats<double>(got, expected);
      else if (result == DType::Float32)
        expect_same_floats<float>(got, expected);
      else
        ASSERT_TRUE(same_bits(got, expected));
    }
  });
}

constexpr DType kIntegers[] = {DType::Int8,  DType::Int16,  DType::Int32,  DType::Int64,
                               DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64};
constexpr DType kNumbers[] = {DType::Int8,   DType::Int16,  DType::Int32,  DType::Int64,  DType::UInt8,
                              DType::UInt16, DType::UInt32, DType::UInt64, DType::Float64};

Params none() { return Params::of(NoParams{}); }

TEST(TypedElements, ComputesArithmetic) {
  for (const DType dtype : kNumbers) {
    const Tensor x = any_elements(dtype, {3, 333}, 1), y = any_elements(dtype, {3, 333}, 2);
    for (const OpId op : {OpId::Add, OpId::Sub, OpId::Mul, OpId::Div, OpId::Max, OpId::Min})
      check_typed(op, none(), {x, y}, dtype);
    for (const OpId op : {OpId::Equal, OpId::Greater, OpId::GreaterOrEqual, OpId::Less, OpId::LessOrEqual})
      check_typed(op, none(), {x, y}, DType::Bool);
    check_typed(OpId::Abs, none(), {x}, dtype);
    check_typed(OpId::Sign, none(), {x}, dtype);
    if (is_signed_integer(dtype) || dtype == DType::Float64) check_typed(OpId::Neg, none(), {x}, dtype);
  }
}

TEST(TypedElements, ComputesRemainders) {
  for (const DType dtype : kNumbers)
    for (const bool fmod : {false, true}) {
      const Tensor x = any_elements(dtype, {700}, 3), y = any_elements(dtype, {700}, 4);
      if (dtype != DType::Float64 || fmod) check_typed(OpId::Mod, Params::of(ModParams{fmod}), {x, y}, dtype);
    }
}

TEST(TypedElements, CombinesBits) {
  for (const DType dtype : kIntegers) {
    const Tensor x = any_elements(dtype, {520}, 5), y = any_elements(dtype, {520}, 6);
    for (const OpId op : {OpId::BitwiseAnd, OpId::BitwiseOr, OpId::BitwiseXor}) check_typed(op, none(), {x, y}, dtype);
    check_typed(OpId::BitwiseNot, none(), {x}, dtype);
    if (is_signed_integer(dtype)) continue;
    for (const std::string direction : {"LEFT", "RIGHT"})
      check_typed(OpId::BitShift, Params::of(BitShiftParams{direction}), {x, y}, dtype);
  }
}

TEST(TypedElements, ChoosesElementsOfEverySize) {
  const Tensor condition = any_elements(DType::Bool, {5, 1, 300}, 7);
  for (const DType dtype : {DType::Bool, DType::Int8, DType::UInt16, DType::Int32, DType::Int64, DType::Float64})
    check_typed(OpId::Where, none(), {condition, any_elements(dtype, {4, 300}, 8), any_elements(dtype, {}, 9)}, dtype);
}

TEST(TypedElements, CastsBetweenNumbers) {
  std::vector<DType> types(std::begin(kNumbers), std::end(kNumbers));
  types.push_back(DType::Bool);
  types.push_back(DType::Float32);
  for (const DType from : types)
    for (const DType to : types) {
      CastParams params;
      params.to = to;
      check_typed(OpId::Cast, Params::of(params), {any_elements(from, {1234}, 10)}, to);
    }
}

TEST(TypedElements, BroadcastsOperands) {
  const std::vector<std::vector<std::vector<int64_t>>> shapes{
      {{3, 1}, {4, 1, 700}},  {{2, 2, 128}, {2, 1, 128}}, {{9, 7, 7}, {7, 1}},      {{1}, {20000}},
      {{5, 2500}, {5, 1}},    {{2, 2500}, {2500}},        {{6, 1, 64}, {1, 50, 1}}, {{3000}, {}},
      {{2, 3, 1, 5}, {7, 1}}, {{1, 2048}, {2, 1}}};
  for (const auto& dims : shapes)
    for (const DType dtype : {DType::Int64, DType::UInt8}) {
      const Tensor x = any_elements(dtype, dims[0], 11), y = any_elements(dtype, dims[1], 12);
      check_typed(OpId::Sub, none(), {x, y}, dtype);
      check_typed(OpId::Less, none(), {y, x}, DType::Bool);
    }
}

}  // namespace
}  // namespace tenon::test
