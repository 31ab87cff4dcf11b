#pragma once

// The inside of Dim, shared by its arithmetic and its text form.
#include "tensor/dim.h"

namespace tenon {

// A symbol, or a function of two dims that cannot be expanded further.
struct Dim::Atom {
  Function function = Function::Symbol;
  std::string name;
  Dim a, b;
  int64_t weight() const { return function == Function::Symbol ? 1 : 1 + a.weight() + b.weight(); }
};

// coefficient * product of atoms (sorted, repeated for powers); no atoms is the constant term.
struct Dim::Term {
  int64_t coefficient = 0;
  std::vector<std::shared_ptr<const Atom>> atoms;
};

// Terms sorted by atoms, no zero coefficients, at least one term with atoms.
struct Dim::Polynomial {
  std::vector<Term> terms;
  int64_t weight = 0;  // symbols and operations, counted as often as they are written out
};

}  // namespace tenon
