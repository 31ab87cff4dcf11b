#pragma once

#include "ops/recurrent.h"
#include "providers/provider.h"

namespace tenon {

struct CellActivation {
  RecurrentFunction function = RecurrentFunction::Tanh;
  float alpha = 0, beta = 0;
};

// The functions of a cell in one direction.
struct CellFunctions {
  CellActivation gate{RecurrentFunction::Sigmoid};  // of every gate but the candidate's
  CellActivation candidate, result;
  float limit = 0;            // what enters gates and candidate is clipped to [-limit, limit]; 0: it is not
  bool input_forget = false;  // the forget gate is one minus the input gate
};

// Neighbouring units of one sequence in one step. All pointers are to the first of them; what they point to may be
// read and written up to a multiple of sixteen.
struct CellRow {
  float* gates =
      nullptr;  // W x + R h + biases; those of GRU: update, reset, hidden; of LSTM: input, output, forget, cell
  int64_t gate_stride = 0;           // from gate to gate, and from peephole to peephole
  const float* before = nullptr;     // the state
  float* after = nullptr;            // the next state
  float* memory = nullptr;           // LSTM: the other state, which is replaced
  const float* peepholes = nullptr;  // LSTM: input, output, forget; null: none
  float* reset = nullptr;            // GRU: the state behind the reset gate, or R h + bias of the hidden gate
  int64_t units = 0;
};

using CellFunction = void (*)(const CellFunctions&, const CellRow&);

struct CellTable {
  CellFunction rnn = nullptr, lstm = nullptr;
  CellFunction gru_linear = nullptr;  // linear_before_reset: `reset` holds R h + bias
  // Otherwise in two parts: the first makes `reset` and leaves the update gate, the second wants R reset in the gates.
  CellFunction gru_reset = nullptr, gru_update = nullptr;
};

// Kernels for these functions.
const CellTable& cell_table(Isa isa, const CellFunctions& functions);

}  // namespace tenon
