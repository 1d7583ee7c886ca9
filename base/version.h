// Which Meshwright this is.
//
// Concept: a worker says in its first message which protocols it speaks. A
// coordinator speaks its own protocol and the one before, and takes a worker
// that shares one of them. The two may therefore be upgraded one after the
// other. kWorkerProtocol rises when either side must know of a change; a field
// that the other side may ignore changes nothing.
//   1  says no protocol
//   2  says its protocols
//   What a program takes must not be added to what another way of measuring
// found. So kMeasuringProtocol is part of every program's key, and rises when
// programs are compiled or timed otherwise. A worker that measures by another
// one gets nothing.
#ifndef MESHWRIGHT_BASE_VERSION_H_
#define MESHWRIGHT_BASE_VERSION_H_

namespace meshwright::base {

const char* Version();  // "0.1.0"

inline constexpr int kWorkerProtocol = 2;
inline constexpr int kOldestWorkerProtocol = kWorkerProtocol - 1;
inline constexpr int kMeasuringProtocol = 14;

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_VERSION_H_
