// Where `meshwright up` listens and where the administrator's verbs look.
#ifndef MESHWRIGHT_CLI_FLAGS_DEFAULTS_H_
#define MESHWRIGHT_CLI_FLAGS_DEFAULTS_H_

namespace meshwright::cli {

inline constexpr char kDefaultAddress[] = "127.0.0.1:7433";

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_FLAGS_DEFAULTS_H_
