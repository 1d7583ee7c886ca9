// FakeProfileStore: a ProfileStore in memory, for tests.
//
// Threads and errors: those of ProfileStore.
#ifndef MESHWRIGHT_PROFILEDB_STORE_TESTING_FAKE_PROFILE_STORE_H_
#define MESHWRIGHT_PROFILEDB_STORE_TESTING_FAKE_PROFILE_STORE_H_

#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::store {

class FakeProfileStore : public ProfileStore {
 public:
  using ProfileStore::Lookup;

  absl::StatusOr<Results> Lookup(absl::Span<const std::string> keys,
                                 const LookupOptions& options) override;
  absl::Status Record(const v1::ProfileResult& result,
                      const Origin& origin) override;
  absl::Status RecordProgram(const std::string& key,
                             std::string_view hlo) override;
  absl::StatusOr<std::string> LookupProgram(const std::string& key) override;
  absl::StatusOr<Statistics> Count() override;
  absl::Status ForEach(const Visit& visit) override;

 private:
  struct Row {
    v1::ProfileResult result;
    Origin origin;
  };

  base::Mutex mutex_;
  // By namespace and key.
  std::map<std::pair<std::string, std::string>, Row> rows_
      ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::string> programs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_TESTING_FAKE_PROFILE_STORE_H_
