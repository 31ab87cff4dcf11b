#include "providers/cpu/pointwise_program.h"

#include <algorithm>
#include <optional>

namespace tenon {

namespace {

using Program = PointwiseProgram;

// Values are numbered as operands are: first inputs, then results of instructions.
class ProgramWriter {
 public:
  ProgramWriter(const PointwiseParams& params, std::span<const DType> inputs, std::span<const DType> outputs)
      : params_(params), inputs_(inputs), outputs_(outputs), readers_left_(inputs.size() + params.size(), 0),
        slot_of_(readers_left_.size()), is_computed_(params.size(), false) {
    for (size_t i = 0; i < params.size(); ++i) {
      instructions_.push_back(params.at(i));
      // What an instruction that changes nothing gives is its operand.
      for (int k = 0; k < operand_count(i); ++k)
        instructions_[i].operands[k] = static_cast<int64_t>(origin(operand(i, k)));
    }
    for (size_t i = 0; i < params.size(); ++i) {
      if (!is_same(i))
        for (int k = 0; k < operand_count(i); ++k) ++readers_left_[operand(i, k)];
    }
    for (size_t k = 0; k < outputs.size(); ++k) {
      const size_t v = origin(inputs.size() + static_cast<size_t>(params.results[k]));
      if (outputs[k] == DType::Undefined || std::ranges::count(results_, v)) continue;
      results_.push_back(v);
      ++readers_left_[v];
    }
  }

  // Inputs in `early` are loaded into slots first. False: another one has to be, and was added.
  bool write(std::vector<size_t>& early) {
    for (const size_t input : early) {
      load(input);
      keep();
    }
    for (size_t i = next_instruction(); i < params_.size(); i = next_instruction()) {
      if (const auto missing = write_instruction(i)) {
        early.push_back(*missing);
        return false;
      }
    }
    store_results();
    return true;
  }

  Program take() { return std::move(program_); }

 private:
  bool is_input(size_t value) const { return value < inputs_.size(); }
  bool is_same(size_t i) const { return instructions_[i].op == PointwiseOp::Same; }
  int operand_count(size_t i) const { return pointwise_info(instructions_[i].op).operands; }
  size_t operand(size_t i, int k) const { return static_cast<size_t>(instructions_[i].operands[k]); }
  size_t origin(size_t value) const {
    while (!is_input(value) && is_same(value - inputs_.size())) value = operand(value - inputs_.size(), 0);
    return value;
  }
  bool reads(size_t i, size_t value) const {
    for (int k = 0; k < operand_count(i); ++k)
      if (operand(i, k) == value) return true;
    return false;
  }
  bool is_ready(size_t i) const {
    for (int k = 0; k < operand_count(i); ++k)
      if (const size_t v = operand(i, k); !is_input(v) && !is_computed_[v - inputs_.size()]) return false;
    return !is_computed_[i] && !is_same(i);
  }
  // One that goes on with what is in registers, or else the first one.
  size_t next_instruction() const {
    size_t first = params_.size();
    for (size_t i = params_.size(); i-- > 0;) {
      if (!is_ready(i)) continue;
      first = i;
    }
    for (size_t i = 0; held_ && i < params_.size(); ++i)
      if (is_ready(i) && reads(i, *held_)) return i;
    return first;
  }

  void add(Program::Step step) { program_.steps.push_back(step); }
  bool is_in_memory(size_t value) const {
    return slot_of_[value] || (is_input(value) && inputs_[value] == DType::Float32);
  }
  Program::Place place_of(size_t value) const {
    return slot_of_[value] ? Program::Place{Program::Place::Kind::Slot, *slot_of_[value]}
                           : Program::Place{Program::Place::Kind::Input, value};
  }

  // Puts what is in registers into a slot.
  void keep() {
    if (free_slots_.empty()) free_slots_.push_back(program_.slots++);
    slot_of_[*held_] = free_slots_.back();
    free_slots_.pop_back();
    add({Program::Step::Kind::Store, {}, 0, false, 1, {place_of(*held_)}});
  }
  void make_room() {
    if (held_ && readers_left_[*held_] > 0 && !is_in_memory(*held_)) keep();
  }
  void load(size_t value) {
    if (held_ == value) return;
    make_room();
    add({Program::Step::Kind::Load, {}, 0, false, 1, {place_of(value)}});
    held_ = value;
  }
  // An output may lie where an input is, so that nothing is stored before all inputs have been read.
  void store_results() {
    for (const size_t value : results_) {
      if (!is_input(value) || slot_of_[value] || results_.size() == 1) continue;
      load(value);
      keep();
    }
    if (held_ && std::ranges::count(results_, *held_)) store_outputs(*held_);
    for (const size_t value : results_) {
      if (readers_left_[value] == 0) continue;
      load(value);
      store_outputs(value);
    }
  }
  void store_outputs(size_t value) {
    for (size_t k = 0; k < outputs_.size(); ++k)
      if (outputs_[k] != DType::Undefined && origin(inputs_.size() + static_cast<size_t>(params_.results[k])) == value)
        add({Program::Step::Kind::Store, {}, 0, false, 1, {Program::Place{Program::Place::Kind::Output, k}}});
    readers_left_[value] = 0;
  }

  // The operand that is best had in registers: the one that is there, or one that must be loaded anyway.
  int choose_position(size_t i) const {
    for (int k = 0; k < operand_count(i); ++k)
      if (held_ == operand(i, k)) return k;
    for (int k = 0; k < operand_count(i); ++k)
      if (!is_in_memory(operand(i, k))) return k;
    return 0;
  }

  // An input that has to be in memory but is not stops it.
  std::optional<size_t> write_instruction(size_t i) {
    const int position = choose_position(i);
    const size_t held = operand(i, position);
    Program::Step step{Program::Step::Kind::Compute, instructions_[i], position, false, 0, {}};
    // Another operand of three may be the one in registers, too.
    bool is_needed_twice = false;
    for (int k = 0; k < operand_count(i); ++k) {
      if (k == position) continue;
      const size_t v = operand(i, k);
      step.with_itself = operand_count(i) == 2 && v == held;
      is_needed_twice = is_needed_twice || (operand_count(i) == 3 && v == held);
      if (!is_in_memory(v) && v != held && is_input(v)) return v;
    }
    load(held);
    if (is_needed_twice && !is_in_memory(held)) keep();
    for (int k = 0; k < operand_count(i); ++k) {
      const size_t v = operand(i, k);
      --readers_left_[v];
      if (k != position && !step.with_itself) step.operands[step.places++] = place_of(v);
    }
    // What others still read has to be kept before the registers change.
    make_room();
    add(step);
    for (int k = 0; k < operand_count(i); ++k) release(operand(i, k));
    is_computed_[i] = true;
    held_ = inputs_.size() + i;
    return std::nullopt;
  }
  void release(size_t value) {
    if (readers_left_[value] > 0 || !slot_of_[value]) return;
    free_slots_.push_back(*slot_of_[value]);
    slot_of_[value].reset();
  }

  const PointwiseParams& params_;
  std::span<const DType> inputs_, outputs_;
  std::vector<PointwiseInstruction> instructions_;
  std::vector<int> readers_left_;
  std::vector<std::optional<size_t>> slot_of_;
  std::vector<bool> is_computed_;
  std::vector<size_t> free_slots_;
  std::vector<size_t> results_;  // values that are outputs, each once
  std::optional<size_t> held_;   // the value in registers
  Program program_;
};

}  // namespace

PointwiseProgram make_pointwise_program(const PointwiseParams& params, std::span<const DType> inputs,
                                        std::span<const DType> outputs) {
  for (std::vector<size_t> early;;) {
    ProgramWriter writer(params, inputs, outputs);
    if (writer.write(early)) return writer.take();
  }
}

}  // namespace tenon
