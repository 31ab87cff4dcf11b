#include "ir/provenance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace tenon {

namespace {

constexpr size_t kMostRules = 12, kMostNodes = 24, kMostNameBytes = 768;
constexpr std::string_view kFrom = " from ", kAnd = " and ", kMore = " more", kComma = ", ";

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

size_t bytes_of(const std::vector<std::string>& list) {
  size_t bytes = 0;
  for (const std::string& text : list) bytes += text.size();
  return bytes;
}

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  for (size_t end; (end = text.find(kComma)) != std::string_view::npos; text.remove_prefix(end + kComma.size()))
    parts.emplace_back(text.substr(0, end));
  if (!text.empty()) parts.emplace_back(text);
  return parts;
}

// Takes " and 3 more" from the end.
size_t take_more(std::string_view& text) {
  const size_t at = text.rfind(kAnd);
  if (at == std::string_view::npos || !text.ends_with(kMore)) return 0;
  const std::string_view number = text.substr(at + kAnd.size(), text.size() - kMore.size() - at - kAnd.size());
  size_t more = 0;
  const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), more);
  if (problem != std::errc() || end != number.data() + number.size()) return 0;
  text = text.substr(0, at);
  return more;
}

}  // namespace

void Provenance::add_rule(std::string_view rule) {
  if (!contains(rules, rule) && rules.size() < kMostRules) rules.emplace_back(rule);
}

void Provenance::add_node(std::string_view name) {
  if (name.empty() || contains(nodes, name)) return;
  if (nodes.size() < kMostNodes && bytes_of(nodes) + name.size() <= kMostNameBytes)
    nodes.emplace_back(name);
  else
    ++more;
}

void Provenance::add(const Provenance& other) {
  for (const std::string& rule : other.rules) add_rule(rule);
  for (const std::string& name : other.nodes) add_node(name);
  more += other.more;
}

std::string Provenance::to_text() const {
  std::string text = fmt::format("{}{}{}", fmt::join(rules, kComma), kFrom, fmt::join(nodes, kComma));
  if (more > 0) text += fmt::format("{}{}{}", kAnd, more, kMore);
  return text;
}

std::optional<Provenance> Provenance::parse(std::string_view text) {
  const size_t from = text.find(kFrom);
  if (from == std::string_view::npos) return std::nullopt;
  Provenance result;
  for (const std::string& rule : parts_of(text.substr(0, from))) result.add_rule(rule);
  text.remove_prefix(from + kFrom.size());
  const size_t more = take_more(text);
  for (const std::string& name : parts_of(text)) result.add_node(name);
  result.more += more;
  return result;
}

}  // namespace tenon
