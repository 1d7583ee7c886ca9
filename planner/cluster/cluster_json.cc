#include "planner/cluster/cluster_json.h"

#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json/read_json.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "planner/cluster/build_cluster.h"
#include "planner/cluster/name_list.h"

namespace meshwright::cluster {
namespace {

using nlohmann::ordered_json;

constexpr int64_t kSchemaVersion = 1;

// A finite number of at least 0.
auto IntoFigure(double& figure) {
  return [&figure](const base::JsonValue& value) {
    if (value.IsNumber()) base::ReadJsonValue(value, figure);
    if (value.IsNumber() && std::isfinite(figure) && figure >= 0) return;
    value.Fail(absl::StrCat("is no number of at least 0, but ", value.Dump()));
  };
}

// Printable, so that a sentence may quote it.
auto IntoName(std::string& name) {
  return [&name](const base::JsonValue& value) {
    base::ReadJsonValue(value, name);
    if (value.HasFailed()) return;
    for (const char c : name) {
      if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) {
        return value.Fail("holds a control character; leave it out");
      }
    }
  };
}

// Names, each perhaps of several (name_list.h).
auto IntoNames(std::vector<std::string>& names) {
  return [&names](const base::JsonValue& list) {
    list.ForEach([&](const base::JsonValue& value) {
      std::string pattern;
      IntoName(pattern)(value);
      if (value.HasFailed()) return;
      auto expanded = ExpandNames(pattern);
      if (!expanded.ok()) {
        return value.Fail(std::string(expanded.status().message()));
      }
      if (names.size() + expanded->size() > 2 * kMaxDevices) {
        return value.Fail("names too many devices");
      }
      names.insert(names.end(), expanded->begin(), expanded->end());
    });
  };
}

void ReadOperation(const base::JsonValue& value, Operation& operation) {
  std::string name;
  base::ReadJsonValue(value, name);
  if (value.HasFailed()) return;
  const std::optional<Operation> found = ParseOperation(name);
  if (found.has_value()) {
    operation = *found;
    return;
  }
  value.Fail(absl::StrCat(
      "is ", value.Dump(), "; it is ",
      absl::StrJoin(kOperations, ", ", [](std::string* out, Operation it) {
        absl::StrAppend(out, NameOperation(it));
      })));
}

// One figure of at least 0 for every axis.
auto IntoAxisFigures(const base::Mesh& mesh, std::vector<double>& figures) {
  return [&](const base::JsonValue& list) {
    if (list.CountElements() != mesh.size()) {
      return list.Fail(absl::StrCat("has ", list.CountElements(),
                                    " figures, but mesh ",
                                    absl::StrJoin(mesh, "x"), " has ",
                                    mesh.size(), " axes; give one of each"));
    }
    list.ForEach([&](const base::JsonValue& value) {
      IntoFigure(figures.emplace_back())(value);
    });
  };
}

}  // namespace

void Describe(base::JsonFields& it, LinkClass& made) {
  it.Required("name", IntoName(made.name));
  it.Required("alpha", IntoFigure(made.link.alpha));
  if (it.Has("bandwidth_bytes_per_second")) {
    if (it.Has("beta")) {
      return it.object().Fail(
          "has beta and bandwidth_bytes_per_second; give one of them");
    }
    double bandwidth = 0;
    it.Required("bandwidth_bytes_per_second", IntoFigure(bandwidth));
    if (it.object().HasFailed()) return;
    if (bandwidth <= 0) {
      return it.object().Fail(
          "has a bandwidth_bytes_per_second of 0; give the link's");
    }
    made.link.beta = 1 / bandwidth;
  } else {
    it.Required("beta", IntoFigure(made.link.beta));
  }
  it.Optional("residual", made.residual);
  it.Optional("timings", made.timings);
}

void Describe(base::JsonFields& it, Group& made) {
  it.Required("name", IntoName(made.name));
  it.Required("class", IntoName(made.link_class));
  it.Required("members", IntoNames(made.members));
}

void Describe(base::JsonFields& it, DirectLink& made) {
  it.Required("class", IntoName(made.link_class));
  it.Required("devices", IntoNames(made.devices));
}

void Describe(base::JsonFields& it, ClassTiming& made) {
  it.Required("class", IntoName(made.link_class));
  it.Required("operation", [&](const base::JsonValue& value) {
    ReadOperation(value, made.timing.operation);
  });
  it.Required("devices", made.timing.devices);
  it.Required("bytes", IntoFigure(made.timing.bytes));
  it.Required("seconds", IntoFigure(made.timing.seconds));
}

void Describe(base::JsonFields& it, Description& made) {
  int64_t version = kSchemaVersion;
  it.Optional("schema_version", version);
  if (version != kSchemaVersion) {
    return it.object().Fail(absl::StrCat("has schema_version ", version,
                                         ", but this program reads ",
                                         kSchemaVersion));
  }
  it.Optional("name", IntoName(made.name));
  it.Required("devices", IntoNames(made.devices));
  it.Optional("link_classes", made.classes);
  it.Optional("groups", made.groups);
  it.Optional("links", made.links);
  it.Optional("timings", made.timings);
  it.Optional("notes", [&](const base::JsonValue& list) {
    list.ForEach([&](const base::JsonValue& value) {
      IntoName(made.notes.emplace_back())(value);
    });
  });
}

absl::StatusOr<Description> ParseDescription(std::string_view json) {
  Description description;
  RETURN_IF_ERROR(base::ReadJson(json, description));
  RETURN_IF_ERROR(BuildCluster(description).status());
  return description;
}

absl::StatusOr<base::Links> ParseLinks(std::string_view json,
                                       const base::Mesh& mesh) {
  std::vector<double> alpha;
  std::vector<double> beta;
  bool is_cluster = false;
  RETURN_IF_ERROR(base::ReadJson(json, [&](const base::JsonValue& document) {
    is_cluster = document.IsObject() && document.value().contains("devices");
    if (is_cluster) return;
    base::ReadJsonObject(document, [&](base::JsonFields& it) {
      it.Required("alpha", IntoAxisFigures(mesh, alpha));
      it.Required("beta", IntoAxisFigures(mesh, beta));
    });
  }));
  if (is_cluster) {
    ASSIGN_OR_RETURN(const Description description, ParseDescription(json));
    ASSIGN_OR_RETURN(const Cluster cluster, BuildCluster(description));
    ASSIGN_OR_RETURN(const DeviceMesh found, FindMesh(cluster, mesh));
    return FindLinks(cluster, found);
  }
  base::Links links;
  for (size_t axis = 0; axis < alpha.size(); ++axis) {
    links.push_back({alpha[axis], beta[axis]});
  }
  return links;
}

namespace {

ordered_json ToJson(const LinkClass& it) {
  ordered_json json = {
      {"name", it.name}, {"alpha", it.link.alpha}, {"beta", it.link.beta}};
  if (it.residual.has_value()) json["residual"] = *it.residual;
  if (it.timings.has_value()) json["timings"] = *it.timings;
  return json;
}

ordered_json ToJson(const ClassTiming& it) {
  return {{"class", it.link_class},
          {"operation", NameOperation(it.timing.operation)},
          {"devices", it.timing.devices},
          {"bytes", it.timing.bytes},
          {"seconds", it.timing.seconds},
          {"bus_bytes_per_second", ComputeBusBandwidth(it.timing)}};
}

ordered_json ToJson(const Cluster& cluster, const DeviceMesh& mesh) {
  ordered_json json;
  base::Mesh shape;
  for (const MeshAxis& axis : mesh.axes) {
    shape.push_back(axis.devices);
    json["shape"].push_back(axis.devices);
  }
  for (const DeviceIndex device : mesh.devices) {
    json["devices"].push_back(cluster.device_name(device));
  }
  const base::Links links = FindLinks(cluster, mesh);
  for (size_t axis = 0; axis < links.size(); ++axis) {
    const MeshAxis& it = mesh.axes[axis];
    json["classes"].push_back(nullptr);
    if (it.slowest.has_value()) {
      json["classes"].back() = cluster.classes()[*it.slowest].name;
    }
    json["equal"].push_back(it.HasEqualLines());
    json["alpha"].push_back(links[axis].alpha);
    json["beta"].push_back(links[axis].beta);
  }
  json["proven"] = mesh.proven;
  return json;
}

}  // namespace

std::string FormatDescription(const Description& description,
                              const Cluster& cluster,
                              const std::vector<DeviceMesh>& meshes) {
  ordered_json json;
  json["schema_version"] = kSchemaVersion;
  json["name"] = description.name;
  json["devices"] = description.devices;
  json["link_classes"] = ordered_json::array();
  for (const LinkClass& it : description.classes) {
    json["link_classes"].push_back(ToJson(it));
  }
  json["groups"] = ordered_json::array();
  for (const Group& it : description.groups) {
    json["groups"].push_back(
        {{"name", it.name}, {"class", it.link_class}, {"members", it.members}});
  }
  json["links"] = ordered_json::array();
  for (const DirectLink& it : description.links) {
    json["links"].push_back(
        {{"class", it.link_class}, {"devices", it.devices}});
  }
  json["timings"] = ordered_json::array();
  for (const ClassTiming& it : description.timings) {
    json["timings"].push_back(ToJson(it));
  }
  if (!description.notes.empty()) json["notes"] = description.notes;
  json["meshes"] = ordered_json::array();
  for (const DeviceMesh& mesh : meshes) {
    json["meshes"].push_back(ToJson(cluster, mesh));
  }
  // A name from a command line may be no UTF-8.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace meshwright::cluster
