#include "cli/program/completion.h"

#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace meshwright::cli {
namespace {

using OnVerb = std::function<void(const ProgramShape&)>;

// The program and all its verbs.
void ForEachVerb(const ProgramShape& shape, const OnVerb& on_verb) {
  on_verb(shape);
  for (const ProgramShape& verb : shape.verbs) ForEachVerb(verb, on_verb);
}

// 'It'\''s' for every shell here.
std::string ShellQuoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// The words that may follow a verb: its verbs and its flags.
std::string ListWords(const ProgramShape& shape) {
  std::vector<std::string> words;
  for (const ProgramShape& verb : shape.verbs)
    words.push_back(verb.path.back());
  for (const FlagShape& flag : shape.flags) {
    if (flag.is_argument) {
      words.insert(words.end(), flag.choices.begin(), flag.choices.end());
    } else {
      words.insert(words.end(), flag.names.begin(), flag.names.end());
    }
  }
  return absl::StrJoin(words, " ");
}

std::string JoinNames(const std::vector<ProgramShape>& programs) {
  return absl::StrJoin(programs, " ",
                       [](std::string* out, const ProgramShape& program) {
                         out->append(program.path[0]);
                       });
}

// The cases of a shell's `case` that follow the words typed so far.
std::string VerbCases(const std::vector<ProgramShape>& programs) {
  std::string text;
  for (const ProgramShape& program : programs) {
    ForEachVerb(program, [&](const ProgramShape& shape) {
      if (shape.path.size() < 2) return;
      const std::string name = ShellQuoted(shape.FullName(" "));
      absl::StrAppend(&text, "      ", name, ") at=", name, " ;;\n");
    });
  }
  return text;
}

}  // namespace

std::string WriteBashCompletion(const std::vector<ProgramShape>& programs) {
  std::string values, words;
  for (const ProgramShape& program : programs) {
    ForEachVerb(program, [&](const ProgramShape& shape) {
      const std::string name = shape.FullName(" ");
      for (const FlagShape& flag : shape.flags) {
        if (flag.is_argument || !flag.takes_value) continue;
        absl::StrAppend(
            &values, "    ",
            absl::StrJoin(flag.names, "|",
                          [&](std::string* out, const std::string& it) {
                            out->append(
                                ShellQuoted(absl::StrCat(name, " ", it)));
                          }),
            ") words=", ShellQuoted(absl::StrJoin(flag.choices, " ")),
            " is_value=1 ;;\n");
      }
      absl::StrAppend(&words, "      ", ShellQuoted(name),
                      ") words=", ShellQuoted(ListWords(shape)), " ;;\n");
    });
  }
  return absl::StrCat(
      "# Completion for bash; load it with\n"
      "#   source <(meshwright completion bash)\n"
      "_meshwright() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]}\n"
      "  local previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
      "  local at=${COMP_WORDS[0]##*/} words='' is_value='' i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case \"$at ${COMP_WORDS[i]}\" in\n",
      VerbCases(programs),
      "    esac\n"
      "  done\n"
      "  case \"$at $previous\" in\n",
      values,
      "  esac\n"
      "  if [[ -z $is_value ]]; then\n"
      "    case \"$at\" in\n",
      words,
      "    esac\n"
      "  fi\n"
      "  COMPREPLY=()\n"
      "  if [[ -n $words ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
      "  fi\n"
      "}\n"
      "complete -o default -F _meshwright ",
      JoinNames(programs), "\n");
}

std::string WriteZshCompletion(const std::vector<ProgramShape>& programs) {
  // A colon ends the word that is offered.
  const auto offer = [](const std::string& word, const std::string& text) {
    return ShellQuoted(
        absl::StrCat(absl::StrReplaceAll(word, {{":", "\\:"}}), ":", text));
  };
  std::string values, offers;
  for (const ProgramShape& program : programs) {
    ForEachVerb(program, [&](const ProgramShape& shape) {
      const std::string name = shape.FullName(" ");
      std::vector<std::string> lines;
      for (const ProgramShape& verb : shape.verbs) {
        lines.push_back(offer(verb.path.back(), verb.description));
      }
      for (const FlagShape& flag : shape.flags) {
        if (flag.is_argument) {
          for (const std::string& choice : flag.choices) {
            lines.push_back(offer(choice, flag.description));
          }
          continue;
        }
        for (const std::string& it : flag.names) {
          lines.push_back(offer(it, flag.description));
          if (!flag.takes_value) continue;
          absl::StrAppend(&values, "    ",
                          ShellQuoted(absl::StrCat(name, " ", it)), ") ",
                          flag.choices.empty()
                              ? std::string("_files")
                              : absl::StrCat("compadd -- ",
                                             absl::StrJoin(flag.choices, " ")),
                          "; return ;;\n");
        }
      }
      absl::StrAppend(&offers, "    ", ShellQuoted(name), ") offers=(\n      ",
                      absl::StrJoin(lines, "\n      "), "\n    ) ;;\n");
    });
  }
  return absl::StrCat(
      "#compdef ", JoinNames(programs),
      "\n"
      "# Completion for zsh; put it as _meshwright into a folder of $fpath.\n"
      "_meshwright() {\n"
      "  local at=${words[1]:t} i\n"
      "  local -a offers\n"
      "  for ((i = 2; i < CURRENT; ++i)); do\n"
      "    case \"$at ${words[i]}\" in\n",
      VerbCases(programs),
      "    esac\n"
      "  done\n"
      "  case \"$at ${words[CURRENT - 1]}\" in\n",
      values,
      "  esac\n"
      "  case \"$at\" in\n",
      offers,
      "  esac\n"
      "  _describe -o 'word' offers\n"
      "  _files\n"
      "}\n"
      "_meshwright \"$@\"\n");
}

std::string WriteFishCompletion(const std::vector<ProgramShape>& programs) {
  std::string text =
      "# Completion for fish; load it with\n"
      "#   meshwright completion fish | source\n";
  for (const ProgramShape& program : programs) {
    ForEachVerb(program, [&](const ProgramShape& shape) {
      std::vector<std::string> conditions;
      for (size_t i = 1; i < shape.path.size(); ++i) {
        conditions.push_back(
            absl::StrCat("__fish_seen_subcommand_from ", shape.path[i]));
      }
      if (!shape.verbs.empty()) {
        conditions.push_back(absl::StrCat(
            "not __fish_seen_subcommand_from ",
            absl::StrJoin(shape.verbs, " ",
                          [](std::string* out, const ProgramShape& verb) {
                            out->append(verb.path.back());
                          })));
      }
      const std::string begin = absl::StrCat(
          "complete -c ", program.path[0],
          conditions.empty()
              ? ""
              : absl::StrCat(" -n ",
                             ShellQuoted(absl::StrJoin(conditions, "; and "))));
      for (const ProgramShape& verb : shape.verbs) {
        absl::StrAppend(&text, begin, " -f -a ", verb.path.back(), " -d ",
                        ShellQuoted(verb.description), "\n");
      }
      for (const FlagShape& flag : shape.flags) {
        if (flag.is_argument && flag.choices.empty()) continue;
        absl::StrAppend(&text, begin);
        for (const std::string& name : flag.names) {
          if (flag.is_argument) break;
          absl::StrAppend(&text, name.starts_with("--") ? " -l " : " -s ",
                          name.substr(name.starts_with("--") ? 2 : 1));
        }
        if (flag.takes_value && !flag.is_argument)
          absl::StrAppend(&text, " -r");
        if (!flag.choices.empty()) {
          absl::StrAppend(&text, " -f -a ",
                          ShellQuoted(absl::StrJoin(flag.choices, " ")));
        }
        absl::StrAppend(&text, " -d ", ShellQuoted(flag.description), "\n");
      }
    });
  }
  return text;
}

}  // namespace meshwright::cli
