#pragma once

#include "providers/cpu/recurrent_plan.h"

namespace tenon {

// What the sequences of a strip carry from step to step, and what weights add without a product. All of it is in whole
// panels: every gate, state or peephole begins padded() after the one before.
class RecurrentStates {
 public:
  // Takes its memory from the front of `memory`, which then points behind it.
  RecurrentStates(const RecurrentPlan& plan, const RecurrentTensors& tensors, const RecurrentStrip& strip,
                  float*& memory);
  static int64_t floats(const RecurrentPlan& plan, int64_t sequences);

  // The states before the first step; steps that a sequence does not have give zeros.
  void begin();
  void next_step() { current_ = 1 - current_; }
  // The last states. An empty sequence ends with zeros, whatever its initial state.
  void end() const;

  int64_t length(int64_t n) const { return tensors_.length(strip_.first + n); }
  const float* bias() const { return bias_; }                                  // of each gate
  const float* product_bias() const { return bias_ + plan_.gates * padded_; }  // see resets_product
  const float* peepholes() const { return tensors_.peepholes ? peepholes_ : nullptr; }
  const float* before() const { return states_[current_]; }  // h of every sequence
  float* after() const { return states_[1 - current_]; }
  float* memory() const { return memory_; }  // c
  float* reset() const { return reset_; }    // see CellRow
  // Null when nobody wants it.
  float* output(int64_t time, int64_t n) const;

 private:
  void read_biases();
  void copy_units(const float* from, float* to) const;
  int64_t state_offset(int64_t n) const;

  const RecurrentPlan& plan_;
  const RecurrentTensors& tensors_;
  RecurrentStrip strip_;
  int64_t padded_;
  float *bias_ = nullptr, *peepholes_ = nullptr, *memory_ = nullptr, *reset_ = nullptr;
  float* states_[2] = {};
  int current_ = 0;
};

}  // namespace tenon
