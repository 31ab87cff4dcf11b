#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tenon {

// One extent of a shape: an integer, or a polynomial over named symbols and floor/ceil/mod/min/max of such.
// Kept in a canonical form, so equal expressions compare equal. Immutable, cheap to copy; integers allocate nothing.
// Arithmetic that overflows gives an invalid Dim, which every consumer refuses. An expression too long to be of use
// becomes a symbol that equal expressions share, so that a chain of operations never costs more than its length.
class Dim {
 public:
  Dim(int64_t value = 0) : value_(value) {}
  static Dim symbol(std::string name);
  static Dim invalid();

  bool is_constant() const { return !polynomial_; }
  bool is_invalid() const;
  // The integer; only when is_constant().
  int64_t value() const { return value_; }
  std::optional<int64_t> constant() const { return is_constant() ? std::optional(value_) : std::nullopt; }
  bool equals(int64_t v) const { return is_constant() && value_ == v; }
  // The name, when the dim is exactly one symbol.
  std::optional<std::string> as_symbol() const;
  void collect_symbols(std::vector<std::string>& out) const;

  // "2*batch + 1", "floor(n / 2)"; parse() reads it back.
  std::string to_string() const;
  static Result<Dim> parse(std::string_view text);

  // The value when every symbol has one. lookup returns nothing for an unknown symbol, which stays symbolic.
  template <class Lookup>
  Dim substitute(const Lookup& lookup) const {
    if (is_constant()) return *this;
    struct Adapter final : SymbolValues {
      const Lookup& f;
      explicit Adapter(const Lookup& l) : f(l) {}
      std::optional<Dim> find(const std::string& name) const override { return f(name); }
    };
    return substitute_symbols(Adapter(lookup));
  }

  friend bool operator==(const Dim& a, const Dim& b);
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim floor_div(const Dim& a, const Dim& b);
  friend Dim ceil_div(const Dim& a, const Dim& b);
  friend Dim floor_mod(const Dim& a, const Dim& b);
  friend Dim min(const Dim& a, const Dim& b);
  friend Dim max(const Dim& a, const Dim& b);

 private:
  struct Atom;
  struct Term;
  struct Polynomial;
  struct SymbolValues {
    virtual std::optional<Dim> find(const std::string& name) const = 0;
    virtual ~SymbolValues() = default;
  };
  enum class Function : uint8_t { Symbol, FloorDiv, CeilDiv, Mod, Min, Max };
  friend class DimParser;

  int64_t weight() const;
  static Dim from_terms(std::vector<Term> terms);
  static Dim call(Function function, const Dim& a, const Dim& b);
  static std::vector<Term> terms_of(const Dim& d);
  static int compare(const Dim& a, const Dim& b);
  static int compare(const Atom& a, const Atom& b);
  static int compare(const std::vector<std::shared_ptr<const Atom>>& a,
                     const std::vector<std::shared_ptr<const Atom>>& b);
  Dim substitute_symbols(const SymbolValues& values) const;
  static std::string atom_text(const Atom& atom);

  int64_t value_ = 0;
  std::shared_ptr<const Polynomial> polynomial_;  // null for integers
};

Dim floor_div(const Dim& a, const Dim& b);
Dim ceil_div(const Dim& a, const Dim& b);
Dim floor_mod(const Dim& a, const Dim& b);
Dim min(const Dim& a, const Dim& b);
Dim max(const Dim& a, const Dim& b);

using Shape = std::vector<Dim>;

// "[batch, 3, 224, 224]".
std::string shape_text(const Shape& shape);
// The product of all dims; a zero makes it zero even when others are symbolic.
Dim element_count(const Shape& shape);
bool is_static(const Shape& shape);

}  // namespace tenon
