#include "tensor/dim.h"

#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "base/hash.h"
#include "tensor/dim_polynomial.h"

namespace tenon {

namespace {
constexpr int64_t kInvalid = std::numeric_limits<int64_t>::min();
constexpr int64_t kMaxWeight = 256;
}  // namespace

Dim Dim::invalid() { return Dim(kInvalid); }
bool Dim::is_invalid() const { return is_constant() && value_ == kInvalid; }

Dim Dim::symbol(std::string name) {
  auto atom = std::make_shared<Atom>();
  atom->name = std::move(name);
  return from_terms({Term{1, {std::move(atom)}}});
}

int Dim::compare(const Atom& a, const Atom& b) {
  if (&a == &b) return 0;
  if (a.function != b.function) return a.function < b.function ? -1 : 1;
  if (a.function == Function::Symbol) return a.name.compare(b.name);
  if (int c = compare(a.a, b.a)) return c;
  return compare(a.b, b.b);
}

int Dim::compare(const std::vector<std::shared_ptr<const Atom>>& a, const std::vector<std::shared_ptr<const Atom>>& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); ++i)
    if (int c = compare(*a[i], *b[i])) return c;
  return 0;
}

int Dim::compare(const Dim& a, const Dim& b) {
  if (a.is_constant() != b.is_constant()) return a.is_constant() ? -1 : 1;
  if (a.is_constant()) return a.value_ < b.value_ ? -1 : a.value_ > b.value_;
  if (a.polynomial_ == b.polynomial_) return 0;
  const auto& x = a.polynomial_->terms;
  const auto& y = b.polynomial_->terms;
  if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
  for (size_t i = 0; i < x.size(); ++i) {
    if (int c = compare(x[i].atoms, y[i].atoms)) return c;
    if (x[i].coefficient != y[i].coefficient) return x[i].coefficient < y[i].coefficient ? -1 : 1;
  }
  return 0;
}

bool operator==(const Dim& a, const Dim& b) { return Dim::compare(a, b) == 0; }

std::vector<Dim::Term> Dim::terms_of(const Dim& d) {
  if (!d.is_constant()) return d.polynomial_->terms;
  if (d.value_ == 0) return {};
  return {Term{d.value_, {}}};
}

int64_t Dim::weight() const { return polynomial_ ? polynomial_->weight : 1; }

Dim Dim::from_terms(std::vector<Term> terms) {
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return compare(a.atoms, b.atoms) < 0; });
  std::vector<Term> merged;
  for (Term& t : terms) {
    if (!merged.empty() && compare(merged.back().atoms, t.atoms) == 0) {
      auto sum = checked_add(merged.back().coefficient, t.coefficient);
      if (!sum) return invalid();
      merged.back().coefficient = *sum;
    } else {
      merged.push_back(std::move(t));
    }
  }
  std::erase_if(merged, [](const Term& t) { return t.coefficient == 0; });
  if (merged.empty()) return Dim(0);
  if (merged.size() == 1 && merged[0].atoms.empty()) return Dim(merged[0].coefficient);
  int64_t weight = 0;
  for (const Term& t : merged) {
    ++weight;
    for (const auto& atom : t.atoms) weight += atom->weight();
  }
  Dim d;
  d.polynomial_ = std::make_shared<Polynomial>(Polynomial{std::move(merged), weight});
  if (weight <= kMaxWeight) return d;
  const std::string text = d.to_string();
  return symbol("_long" + hash_bytes(text.data(), text.size()).hex());
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_invalid() || b.is_invalid()) return Dim::invalid();
  if (a.is_constant() && b.is_constant()) {
    auto r = checked_add(a.value_, b.value_);
    return r ? Dim(*r) : Dim::invalid();
  }
  auto terms = Dim::terms_of(a);
  for (auto& t : Dim::terms_of(b)) terms.push_back(t);
  return Dim::from_terms(std::move(terms));
}

Dim operator-(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant() && !a.is_invalid() && !b.is_invalid()) {
    auto r = checked_sub(a.value_, b.value_);
    return r ? Dim(*r) : Dim::invalid();
  }
  return a + Dim(-1) * b;
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_invalid() || b.is_invalid()) return Dim::invalid();
  if (a.is_constant() && b.is_constant()) {
    auto r = checked_mul(a.value_, b.value_);
    return r ? Dim(*r) : Dim::invalid();
  }
  std::vector<Dim::Term> terms;
  for (const auto& x : Dim::terms_of(a)) {
    for (const auto& y : Dim::terms_of(b)) {
      Dim::Term t;
      auto c = checked_mul(x.coefficient, y.coefficient);
      if (!c) return Dim::invalid();
      t.coefficient = *c;
      t.atoms = x.atoms;
      t.atoms.insert(t.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(t.atoms.begin(), t.atoms.end(), [](const auto& p, const auto& q) { return Dim::compare(*p, *q) < 0; });
      terms.push_back(std::move(t));
    }
  }
  return Dim::from_terms(std::move(terms));
}

Dim Dim::call(Function function, const Dim& a, const Dim& b) {
  auto atom = std::make_shared<Atom>();
  atom->function = function;
  atom->a = a;
  atom->b = b;
  return from_terms({Term{1, {std::move(atom)}}});
}

namespace {
// a / b exactly when b is a nonzero integer that divides every coefficient, or a is a multiple of b.
std::optional<Dim> divides_exactly(const Dim& a, const Dim& b) {
  if (a == b) return Dim(1);
  if (a.equals(0)) return Dim(0);
  return std::nullopt;
}
}  // namespace

Dim floor_div(const Dim& a, const Dim& b) {
  if (a.is_invalid() || b.is_invalid() || b.equals(0)) return Dim::invalid();
  if (b.equals(1)) return a;
  if (a.is_constant() && b.is_constant()) return Dim(floor_div(a.value_, b.value_));
  if (auto exact = divides_exactly(a, b)) return *exact;
  // Terms that b divides leave the floor; what remains stays inside.
  std::vector<Dim::Term> outside, inside;
  const auto divisor = Dim::terms_of(b);
  for (auto& t : Dim::terms_of(a)) {
    bool divided = false;
    if (divisor.size() == 1 && t.coefficient % divisor[0].coefficient == 0) {
      Dim::Term q{t.coefficient / divisor[0].coefficient, t.atoms};
      divided = true;
      for (const auto& atom : divisor[0].atoms) {
        auto it =
            std::find_if(q.atoms.begin(), q.atoms.end(), [&](const auto& p) { return Dim::compare(*p, *atom) == 0; });
        if (it == q.atoms.end()) {
          divided = false;
          break;
        }
        q.atoms.erase(it);
      }
      if (divided) outside.push_back(std::move(q));
    }
    if (!divided) inside.push_back(t);
  }
  if (inside.empty()) return Dim::from_terms(std::move(outside));
  Dim rest = Dim::from_terms(std::move(inside));
  Dim quotient = rest.is_constant() && b.is_constant() ? Dim(floor_div(rest.value_, b.value_))
                                                       : Dim::call(Dim::Function::FloorDiv, rest, b);
  return Dim::from_terms(std::move(outside)) + quotient;
}

Dim ceil_div(const Dim& a, const Dim& b) {
  if (a.is_invalid() || b.is_invalid() || b.equals(0)) return Dim::invalid();
  if (a.is_constant() && b.is_constant()) return Dim(ceil_div(a.value_, b.value_));
  if (auto exact = divides_exactly(a, b)) return *exact;
  if (b.is_constant() && b.value_ > 0) return floor_div(a + Dim(b.value_ - 1), b);
  return Dim::call(Dim::Function::CeilDiv, a, b);
}

Dim floor_mod(const Dim& a, const Dim& b) {
  if (a.is_invalid() || b.is_invalid() || b.equals(0)) return Dim::invalid();
  if (a.is_constant() && b.is_constant()) return Dim(floor_mod(a.value_, b.value_));
  if (divides_exactly(a, b)) return Dim(0);
  return Dim::call(Dim::Function::Mod, a, b);
}

Dim min(const Dim& a, const Dim& b) {
  if (a.is_invalid() || b.is_invalid()) return Dim::invalid();
  if (a.is_constant() && b.is_constant()) return Dim(std::min(a.value_, b.value_));
  if (a == b) return a;
  return Dim::compare(a, b) < 0 ? Dim::call(Dim::Function::Min, a, b) : Dim::call(Dim::Function::Min, b, a);
}

Dim max(const Dim& a, const Dim& b) {
  if (a.is_invalid() || b.is_invalid()) return Dim::invalid();
  if (a.is_constant() && b.is_constant()) return Dim(std::max(a.value_, b.value_));
  if (a == b) return a;
  // Symbols are extents, and so are sums and products of them.
  const auto is_never_negative = [](const Dim& d) {
    return std::ranges::all_of(Dim::terms_of(d), [](const Dim::Term& t) {
      return t.coefficient >= 0 &&
             std::ranges::all_of(t.atoms, [](const auto& atom) { return atom->function == Dim::Function::Symbol; });
    });
  };
  if (a.is_constant() && a.value_ <= 0 && is_never_negative(b)) return b;
  if (b.is_constant() && b.value_ <= 0 && is_never_negative(a)) return a;
  return Dim::compare(a, b) < 0 ? Dim::call(Dim::Function::Max, a, b) : Dim::call(Dim::Function::Max, b, a);
}

std::optional<std::string> Dim::as_symbol() const {
  if (is_constant() || polynomial_->terms.size() != 1) return std::nullopt;
  const Term& t = polynomial_->terms[0];
  if (t.coefficient != 1 || t.atoms.size() != 1 || t.atoms[0]->function != Function::Symbol) return std::nullopt;
  return t.atoms[0]->name;
}

void Dim::collect_symbols(std::vector<std::string>& out) const {
  if (is_constant()) return;
  for (const Term& t : polynomial_->terms) {
    for (const auto& atom : t.atoms) {
      if (atom->function == Function::Symbol) {
        if (std::find(out.begin(), out.end(), atom->name) == out.end()) out.push_back(atom->name);
      } else {
        atom->a.collect_symbols(out);
        atom->b.collect_symbols(out);
      }
    }
  }
}

Dim Dim::substitute_symbols(const SymbolValues& values) const {
  if (is_constant()) return *this;
  Dim sum(0);
  for (const Term& t : polynomial_->terms) {
    Dim product(t.coefficient);
    for (const auto& atom : t.atoms) {
      Dim factor;
      if (atom->function == Function::Symbol) {
        factor = values.find(atom->name).value_or(Dim::symbol(atom->name));
      } else {
        Dim a = atom->a.substitute_symbols(values), b = atom->b.substitute_symbols(values);
        switch (atom->function) {
          case Function::FloorDiv:
            factor = floor_div(a, b);
            break;
          case Function::CeilDiv:
            factor = ceil_div(a, b);
            break;
          case Function::Mod:
            factor = floor_mod(a, b);
            break;
          case Function::Min:
            factor = min(a, b);
            break;
          default:
            factor = max(a, b);
        }
      }
      product = product * factor;
    }
    sum = sum + product;
  }
  return sum;
}

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + shape[i].to_string();
  return text + "]";
}

Dim element_count(const Shape& shape) {
  for (const Dim& d : shape)
    if (d.equals(0)) return Dim(0);
  Dim n(1);
  for (const Dim& d : shape) n = n * d;
  return n;
}

bool is_static(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dim& d) { return d.is_constant(); });
}

}  // namespace tenon
