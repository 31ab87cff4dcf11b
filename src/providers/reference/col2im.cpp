#include "ops/col2im.h"

#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

template <class T>
T sum_of(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

// For every (place in the block, block): the number of the pixel it adds to, or -1 outside the image.
Scratch<int64_t> pixel_numbers(const Col2ImParams& p, Dims image, Dims block) {
  std::vector<int64_t> blocks;
  for (size_t a = 0; a < image.size(); ++a) {
    const int64_t room = image[a] + p.pad_begin(a) + p.pad_end(a, image.size()) - p.dilation(a) * (block[a] - 1) - 1;
    blocks.push_back(room / p.stride(a) + 1);
  }
  Scratch<int64_t> pixels;
  for (Walker<0> offset(block, {}); offset.more(); offset.next()) {
    for (Walker<0> at(blocks, {}); at.more(); at.next()) {
      int64_t pixel = 0;
      bool inside = true;
      for (size_t a = 0; a < image.size(); ++a) {
        const int64_t x = at.index()[a] * p.stride(a) - p.pad_begin(a) + offset.index()[a] * p.dilation(a);
        inside = inside && x >= 0 && x < image[a];
        pixel = pixel * image[a] + x;
      }
      pixels.push_back(inside ? pixel : -1);
    }
  }
  return pixels;
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Col2Im>() {
  return [](KernelContext& c) -> Status {
    const TensorView &in = c.in(0), &out = c.out(0);
    const auto block = c.in(2).as<int64_t>();
    const Scratch<int64_t> pixels = in.size() > 0 && out.size() > 0
                                        ? pixel_numbers(c.params<Col2ImParams>(), out.dims.subspan(2), block)
                                        : Scratch<int64_t>{};
    return dispatch<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                    uint64_t, std::complex<float>, std::complex<double>>(out.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      auto source = in.as<T>();
      auto target = out.as<T>();
      if (target.empty()) return Status();
      const size_t planes = static_cast<size_t>(out.dims[0] * out.dims[1]), plane = target.size() / planes;
      Scratch<Wide<T>> sums(plane);
      WorkMeter meter;
      for (size_t n = 0; n < planes; ++n) {
        std::ranges::fill(sums, Wide<T>{});
        for (size_t i = 0; i < pixels.size(); ++i) {
          meter.spend();
          if (pixels[i] < 0) continue;
          Wide<T>& sum = sums[static_cast<size_t>(pixels[i])];
          sum = sum_of<Wide<T>>(sum, widen(source[n * pixels.size() + i]));
        }
        for (size_t i = 0; i < plane; ++i) target[n * plane + i] = narrow<T>(sums[i]);
      }
      return Status();
    });
  };
}

}  // namespace tenon
