#include "wire/npz.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "unit/base/temporary_folder.h"

namespace tenon::wire {
namespace {

Tensor floats(std::vector<float> values) {
  return Tensor::of<float>({static_cast<int64_t>(values.size())}, std::span<const float>(values));
}

std::string join(const std::vector<Bytes>& pieces) {
  std::string text;
  for (Bytes piece : pieces) text += piece;
  return text;
}
template <class T>
void store(std::string& text, size_t position, T value) {
  std::memcpy(text.data() + position, &value, sizeof value);
}

// An archive of one deflated entry "a.npy": the stored form with method and sizes exchanged.
std::string deflated_archive(const std::string& content) {
  uLongf length = compressBound(content.size());
  std::string zlib_form(length, '\0');
  compress(reinterpret_cast<Bytef*>(zlib_form.data()), &length, reinterpret_cast<const Bytef*>(content.data()),
           content.size());
  const std::string deflated = zlib_form.substr(2, length - 6);  // without zlib's own header and checksum
  ZipWriter writer;
  writer.add("a.npy", {deflated});
  std::string archive = join(writer.finish());
  const uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  const size_t central = archive.find("PK\x01\x02");
  store<uint16_t>(archive, central + 10, 8);
  store<uint32_t>(archive, central + 16, static_cast<uint32_t>(crc));
  store<uint32_t>(archive, central + 24, static_cast<uint32_t>(content.size()));
  return archive;
}

std::string encoded(const Tensor& tensor) {
  const auto npy = encode_npy(tensor);
  return npy->header + std::string(npy->data());
}

TEST(Npz, FindsEachOfManyArrays) {
  constexpr size_t kMany = 100'000;
  const std::string content = encoded(floats({1}));
  ZipWriter writer;
  for (size_t i = 0; i < kMany; ++i) writer.add("a" + std::to_string(i) + ".npy", {content});
  const std::string archive = join(writer.finish());
  const auto npz = NpzFile::parse(archive, nullptr).value();
  ASSERT_EQ(npz.names().size(), kMany);
  for (const std::string& name : npz.names()) ASSERT_TRUE(npz.describe(name).ok()) << name;
  const std::string message = npz.read("b").status().to_string();
  EXPECT_NE(message.find("'a19' and 99980 more"), std::string::npos) << message;
}

TEST(Npz, ReadsBackAsWritten) {
  TemporaryFolder folder;
  const std::string text[] = {"a", "\u00E9"};
  const std::vector<NamedTensor> arrays = {
      {"x", floats({1, 2, 3})}, {"empty", floats({})}, {"text", Tensor::of<std::string>({2}, std::span(text))}};
  ASSERT_TRUE(write_npz(folder / "a.npz", arrays).ok());
  const auto npz = NpzFile::open(folder / "a.npz");
  ASSERT_TRUE(npz.ok()) << npz.status().to_string();
  EXPECT_EQ(npz->names(), (std::vector<std::string>{"x", "empty", "text"}));
  const auto x = npz->read("x");
  ASSERT_TRUE(x.ok()) << x.status().to_string();
  EXPECT_TRUE(std::ranges::equal(x->as<float>(), std::vector<float>{1, 2, 3}));
  EXPECT_EQ(npz->read("empty")->size(), 0);
  EXPECT_EQ(npz->read("text")->as<std::string>()[1], "\u00E9");
  const auto missing = npz->read("y");
  EXPECT_EQ(missing.status().code(), Code::NotFound);
  EXPECT_NE(missing.status().message().find("'x', 'empty', 'text'"), std::string::npos);

  const std::string first = folder.read("a.npz");
  ASSERT_TRUE(write_npz(folder / "a.npz", arrays).ok());
  EXPECT_EQ(folder.read("a.npz"), first);
}

TEST(Npz, RefusesNamesItCannotUse) {
  TemporaryFolder folder;
  EXPECT_FALSE(write_npz(folder / "a.npz", {{"", floats({1})}}).ok());
  EXPECT_FALSE(write_npz(folder / "a.npz", {{"x", floats({1})}, {"x", floats({2})}}).ok());
  EXPECT_FALSE(write_npz(folder / "a.npz", {{std::string(70'000, 'x'), floats({1})}}).ok());
}

TEST(Npz, InflatesCompressedEntries) {
  const Tensor tensor = floats(std::vector<float>(10'000, 1.5f));
  const std::string archive = deflated_archive(encoded(tensor));
  EXPECT_LT(archive.size(), 2000u);
  const auto npz = NpzFile::parse(archive, nullptr);
  ASSERT_TRUE(npz.ok()) << npz.status().to_string();
  const auto again = npz->read("a");
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->size(), 10'000);
  EXPECT_EQ(again->as<float>()[9'999], 1.5f);
}

TEST(Npz, TakesItsMemoryFromTheBudget) {
  const std::string archive = deflated_archive(encoded(floats(std::vector<float>(10'000, 0))));
  auto npz = NpzFile::parse(archive, nullptr);
  npz->set_budget(std::make_shared<MemoryBudget>(30'000));
  EXPECT_EQ(npz->read("a").status().code(), Code::ResourceLimit);
  const auto budget = std::make_shared<MemoryBudget>(50'000);
  npz->set_budget(budget);
  {
    const auto array = npz->read("a");
    ASSERT_TRUE(array.ok()) << array.status().to_string();
    EXPECT_EQ(npz->read("a").status().code(), Code::ResourceLimit) << "both together are too much";
  }
  EXPECT_EQ(budget->used(), 0);
}

TEST(Npy, TextTakesItsMemoryFromTheBudget) {
  const std::string words[] = {"a", "b", "c"};
  const std::string bytes = encoded(Tensor::of<std::string>({3}, std::span(words)));
  const auto tight = std::make_shared<MemoryBudget>(20), wide = std::make_shared<MemoryBudget>(10'000);
  EXPECT_EQ(parse_npy(bytes, nullptr, std::nullopt, tight).status().code(), Code::ResourceLimit);
  EXPECT_TRUE(parse_npy(bytes, nullptr, std::nullopt, wide).ok());
}

TEST(Npz, BelievesTheDataAndNotTheDirectory) {
  const std::string good = deflated_archive(encoded(floats(std::vector<float>(1000, 1.5f))));
  const size_t central = good.find("PK\x01\x02");
  const auto read = [](const std::string& archive) {
    const auto npz = NpzFile::parse(archive, nullptr);
    return npz.ok() ? npz->read("a").status().code() : npz.status().code();
  };
  ASSERT_EQ(read(good), Code::Ok);
  for (uint32_t size : {0u, 100u, 5000u, 0x7FFFFFFFu, 0xFFFFFFFEu}) {
    std::string bad = good;
    store(bad, central + 24, size);
    EXPECT_EQ(read(bad), Code::InvalidArgument) << size;
  }
  std::string wrong_checksum = good;
  store<uint32_t>(wrong_checksum, central + 16, 1);
  EXPECT_EQ(read(wrong_checksum), Code::InvalidArgument);
  std::string encrypted = good;
  store<uint16_t>(encrypted, central + 8, 1);
  EXPECT_EQ(read(encrypted), Code::Unsupported);
  std::string method = good;
  store<uint16_t>(method, central + 10, 12);
  EXPECT_EQ(read(method), Code::Unsupported);
}

TEST(Npz, SurvivesCutsAndChangedBytes) {
  TemporaryFolder folder;
  ASSERT_TRUE(write_npz(folder / "a.npz", {{"x", floats({1, 2})}}).ok());
  const std::string deflated = deflated_archive(encoded(floats({1, 2, 3})));
  for (const std::string& archive : {folder.read("a.npz"), deflated}) {
    for (size_t length = 0; length < archive.size(); ++length)
      EXPECT_FALSE(NpzFile::parse(archive.substr(0, length), nullptr).ok()) << length;
    for (size_t i = 0; i < archive.size(); ++i) {
      for (int value : {0x00, 0x7F, 0xFF}) {
        std::string changed = archive;
        changed[i] = static_cast<char>(value);
        const auto npz = NpzFile::parse(changed, nullptr);
        if (!npz.ok()) continue;
        for (const std::string& name : npz->names()) (void)npz->read(name);
      }
    }
  }
}

TEST(Zip, WritesAndReadsSixtyFourBitSizes) {
  const std::string large(1000, 'l');
  ZipWriter writer(/*wide_from=*/100);
  writer.add("small", {"abc"});
  writer.add("large", {large});
  writer.add("far", {"tail"});
  writer.add("large and far", {large, "x"});
  const std::string archive = join(writer.finish());
  const auto entries = parse_zip(archive);
  ASSERT_TRUE(entries.ok()) << entries.status().to_string();
  ASSERT_EQ(entries->size(), 4u);
  EXPECT_EQ((*entries)[0].stored, "abc");
  EXPECT_EQ((*entries)[1].stored, large);
  EXPECT_EQ((*entries)[2].stored, "tail");
  EXPECT_EQ((*entries)[3].stored, large + "x");
  for (const ZipEntry& entry : *entries) EXPECT_TRUE(check_stored_entry(entry).ok());
  for (size_t length = 0; length < archive.size(); ++length) EXPECT_FALSE(parse_zip(archive.substr(0, length)).ok());
}

// What an array is takes its header alone, and what the header does not explain is not inflated.
TEST(Npz, DescribesWithoutInflating) {
  const std::string content = encoded(floats(std::vector<float>(1'000'000, 1.0f)));
  std::string archive = deflated_archive(content);
  const auto whole = NpzFile::parse(archive, nullptr);
  ASSERT_TRUE(whole.ok()) << whole.status().to_string();
  const auto described = whole->describe("a");
  ASSERT_TRUE(described.ok()) << described.status().to_string();
  EXPECT_EQ(described->dtype, DType::Float32);
  EXPECT_EQ(described->dims, std::vector<int64_t>{1'000'000});

  auto damaged = archive;
  const size_t central = damaged.find("PK\x01\x02");
  damaged[central - 40] = static_cast<char>(~damaged[central - 40]);
  const auto broken = NpzFile::parse(damaged, nullptr);
  EXPECT_TRUE(broken->describe("a").ok());
  EXPECT_FALSE(broken->read("a").ok());
}

TEST(Npz, RefusesMoreBytesThanTheHeaderExplains) {
  const std::string archive = deflated_archive(encoded(floats({1, 2})) + std::string(10'000'000, '\0'));
  auto npz = NpzFile::parse(archive, nullptr);
  ASSERT_TRUE(npz.ok()) << npz.status().to_string();
  const auto budget = std::make_shared<MemoryBudget>(int64_t{1} << 30);
  npz->set_budget(budget);
  EXPECT_FALSE(npz->describe("a").ok());
  EXPECT_FALSE(npz->read("a").ok());
  EXPECT_EQ(budget->peak(), 0);
}

}  // namespace
}  // namespace tenon::wire
