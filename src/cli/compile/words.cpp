#include "cli/compile/words.h"

#include "cli/option_flags.h"

namespace cli {

namespace {

struct Phrase {
  const char *of_library, *here;
};
constexpr Phrase kPhrases[] = {
    {"raise the option 'validate_seconds'", "raise --validate-timeout"},
    {"set the option 'validate_existing' to validate it", "add --validate to validate it now"},
    {"use the option 'output_dir'", "use --output-dir"},
    {"option 'output': ", "--output: "},
    {"option 'weights_name': ", "--bin-name: "},
    {"option 'pin': ", "--pin: "},
    {"option 'freeze_input': ", "--freeze-inputs: "},
    {"; freeze_inputs makes", "; --freeze-inputs makes"},
};

}  // namespace

std::string in_words_of_flags(std::string message) {
  for (const Phrase& phrase : kPhrases) {
    const std::string from = phrase.of_library, to = phrase.here;
    for (size_t at = 0; (at = message.find(from, at)) != std::string::npos; at += to.size())
      message.replace(at, from.size(), to);
  }
  return with_flags(std::move(message));
}

}  // namespace cli
