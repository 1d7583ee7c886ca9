// FingerprintModule: which model the bytes hold, whichever process wrote them.
//
// Concept: two exports of one step differ in what says where it came from: the
// id of the module, which counts the modules of a process, and the metadata and
// stack frames, which hold lines of source. Frontend attributes are a map, and
// are written in another order in each process. None of it counts here.
// In -> Out: HLO text, or the bytes of an HloModuleProto or HloProto -> 64 hex
// digits, the SHA-256 of the module without these. Bytes that are none of the
// three have their own SHA-256.
// Threads: a pure function.
// Source: HloModuleProto of https://github.com/openxla/xla.
#ifndef MESHWRIGHT_COORDINATOR_IR_LOAD_MODULE_FINGERPRINT_H_
#define MESHWRIGHT_COORDINATOR_IR_LOAD_MODULE_FINGERPRINT_H_

#include <string>
#include <string_view>

namespace meshwright::ir {

std::string FingerprintModule(std::string_view bytes);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_LOAD_MODULE_FINGERPRINT_H_
