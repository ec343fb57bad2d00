extension PackageModel {
    /// The JSON Schema (draft 7) of model files: editors complete and check a model that names it under `$schema`. It covers the form of a
    /// model; reading the model checks the meaning of names.
    ///
    /// The same text as in `mbo.schema.json`, which models of this repository name under `$schema`. A resource that is embedded in code would be an
    /// array literal of its bytes.
    public static let schema = #"""
        {
          "$schema": "http://json-schema.org/draft-07/schema#",
          "title": "Package model (*.mbo.json), formats 1 and 2",
          "description": "A package of business objects: what is on the device, how it travels, and where the server finds it.",
          "type": "object",
          "additionalProperties": false,
          "required": ["format", "name"],
          "properties": {
            "$schema": {"type": "string", "description": "Where this schema is; for editors."},
            "format": {"enum": [1, 2], "description": "Version of the file format."},
            "name": {"$ref": "#/definitions/name", "description": "Name of the package and of its generated database class, such as CRM."},
            "version": {"type": "string", "pattern": "^[A-Za-z0-9._-]+$", "default": "1.0", "description": "Client and server address a package by name and version."},
            "documentation": {"$ref": "#/definitions/documentation"},
            "namePrefix": {"type": "string", "pattern": "^([A-Za-z_][A-Za-z0-9_]*)?$", "default": "", "description": "Put before the name of every generated class."},
            "synchronization": {"enum": ["replication", "messaging"], "default": "replication", "description": "How data travels."},
            "pageSize": {
              "enum": [1024, 2048, 4096, 8192, 16384, 32768, 65536],
              "default": 4096,
              "description": "Page size in bytes that the length rules work with: while an object's attributes sum up to more, its largest string or binary becomes large."
            },
            "roles": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "The roles whose users may use the package; without them, all users may. Format 2."},
            "structures": {"type": "array", "items": {"$ref": "#/definitions/structure"}, "description": "Values of several parts, used as attributes and parameters."},
            "personalizationKeys": {"type": "array", "items": {"$ref": "#/definitions/personalizationKey"}, "description": "Values that belong to the user, such as a sales region."},
            "synchronizationGroups": {"type": "array", "items": {"$ref": "#/definitions/synchronizationGroup"}, "description": "Groups of objects that are synchronized together. The group \"default\" is always there."},
            "backEnds": {"type": "array", "items": {"$ref": "#/definitions/backEnd"}, "description": "The enterprise's databases."},
            "objects": {"type": "array", "items": {"$ref": "#/definitions/object"}, "description": "The business objects, in the order in which they are synchronized."}
          },
          "definitions": {
            "name": {
              "type": "string",
              "pattern": "^[A-Za-z][A-Za-z0-9_. ]*$",
              "maxLength": 100,
              "description": "Letters A to Z, digits, underscores, points and spaces. In Swift, spaces are left out and points become underscores."
            },
            "keyword": {"enum": ["Any", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "Self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while"]},
            "memberName": {"allOf": [{"$ref": "#/definitions/name"}], "not": {"$ref": "#/definitions/keyword"}},
            "parameterName": {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_]*$", "maxLength": 100, "not": {"$ref": "#/definitions/keyword"}},
            "documentation": {"type": "string", "description": "A description for people, also the comment of the generated code."},
            "type": {
              "type": "string",
              "anyOf": [
                {"enum": ["string", "binary", "boolean", "char", "byte", "short", "int", "long", "integer", "decimal", "float", "double", "date", "time", "dateTime", "bigString", "bigBinary"]},
                {"pattern": "^[A-Za-z][A-Za-z0-9_. ]*(\\??\\[\\])?$"}
              ],
              "description": "A simple type, the name of a structure (or of an object, whose attributes are then the value), or either with [] for a list, or with ?[] for a list whose elements may be null."
            },
            "nullable": {"type": "boolean", "default": false, "description": "Whether there may be no value."},
            "default": {"description": "Value of new ones, in its JSON form: dates as \"2025-12-31\", binaries as base64."},
            "structure": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name", "attributes"],
              "properties": {
                "name": {"$ref": "#/definitions/name"},
                "documentation": {"$ref": "#/definitions/documentation"},
                "attributes": {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/attribute"}}
              }
            },
            "personalizationKey": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name", "type"],
              "properties": {
                "name": {"$ref": "#/definitions/memberName"},
                "type": {"$ref": "#/definitions/type"},
                "nullable": {"$ref": "#/definitions/nullable"},
                "default": {"$ref": "#/definitions/default"},
                "storage": {
                  "enum": ["client", "server", "session"],
                  "default": "client",
                  "description": "client: in the local database. server: kept on the server too. session: lost when the application ends."
                }
              }
            },
            "synchronizationGroup": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name"],
              "properties": {
                "name": {"type": "string", "pattern": "^[^\\s,]+$", "not": {"enum": ["system", "unsubscribe", "initialSync"]}},
                "interval": {"type": "integer", "minimum": 0, "default": 0, "description": "Minutes between checks for changes that are pushed; 0: none."}
              }
            },
            "backEnd": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name"],
              "properties": {
                "name": {"type": "string", "minLength": 1},
                "kind": {"enum": ["sqlite", "postgresql"], "default": "sqlite"},
                "path": {"type": "string", "minLength": 1, "description": "The database file, relative to the model; left out where the deployment says it."},
                "idempotent": {"type": "boolean", "default": false, "description": "Operations may be repeated without harm, so none are remembered there."}
              }
            },
            "object": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name", "attributes"],
              "properties": {
                "name": {"$ref": "#/definitions/name"},
                "was": {"type": "string", "description": "The object's name in the model before this one; for upgrades."},
                "documentation": {"$ref": "#/definitions/documentation"},
                "local": {"type": "boolean", "default": false, "description": "Only on the device: never synchronized, no pending state."},
                "synchronizationGroup": {"type": "string", "default": "default"},
                "dynamicQueries": {"type": "boolean", "default": true, "description": "Whether queries that are made at run time are allowed."},
                "attributes": {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/attribute"}},
                "primaryKey": {"type": "array", "items": {"type": "string"}, "uniqueItems": true, "description": "Names of the attributes that identify a row, in order."},
                "relationships": {"type": "array", "items": {"$ref": "#/definitions/relationship"}},
                "synchronizationParameters": {
                  "type": "array",
                  "items": {"$ref": "#/definitions/synchronizationParameter"},
                  "description": "Values that choose the rows of a client; the load statement refers to them as :name."
                },
                "queries": {"type": "array", "items": {"$ref": "#/definitions/query"}},
                "operations": {
                  "type": "array",
                  "items": {"anyOf": [{"enum": ["create", "update", "delete"]}, {"$ref": "#/definitions/operation"}]},
                  "description": "What the device may do: the words create, update and delete for those that are made from the binding, or operations in full. None by default."
                },
                "conflicts": {"enum": ["lastWriter", "refuse"], "default": "lastWriter", "description": "Whether an update or delete of a row that changed in the back end since the device last saw it is done or rejected. Format 2."},
                "binding": {"$ref": "#/definitions/binding"}
              }
            },
            "attribute": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name", "type"],
              "properties": {
                "name": {"$ref": "#/definitions/memberName"},
                "type": {"$ref": "#/definitions/type"},
                "nullable": {"$ref": "#/definitions/nullable"},
                "length": {"type": "integer", "minimum": 1, "description": "Characters of a string, bytes of a binary. Strings over 8191 and binaries over 32767 become large."},
                "precision": {"type": "integer", "minimum": 1, "maximum": 38, "default": 18, "description": "Digits of a decimal altogether."},
                "scale": {"type": "integer", "minimum": 0, "maximum": 38, "default": 2, "description": "Digits of a decimal after the point."},
                "large": {"type": "boolean", "description": "Whether a string or binary is kept outside of the row and read as a stream; without it the length rules decide."},
                "generated": {"type": "boolean", "default": false, "description": "The back end assigns the value when the row is created there."},
                "searchable": {"type": "boolean", "default": false, "description": "The device keeps an index of the words of this string, for searches over text; format 2."},
                "default": {"$ref": "#/definitions/default"},
                "values": {"type": "array", "minItems": 1, "uniqueItems": true, "items": {"type": ["string", "number"]}, "description": "The only values that a device saves, besides none: of strings, characters, whole numbers and decimals; format 2."},
                "minimum": {"type": "number", "description": "The least number that a device saves; format 2."},
                "maximum": {"type": "number", "description": "The greatest number that a device saves; format 2."},
                "was": {"type": "string", "description": "The attribute's name in the model before this one; for upgrades."},
                "documentation": {"$ref": "#/definitions/documentation"}
              }
            },
            "relationship": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name", "target", "cardinality"],
              "properties": {
                "name": {"$ref": "#/definitions/memberName"},
                "target": {"type": "string", "description": "Name of the object at the other end."},
                "cardinality": {"enum": ["oneToOne", "oneToMany", "manyToOne"]},
                "composite": {"type": "boolean", "default": false, "description": "At the parent's side: the children are saved, submitted and cancelled with it."},
                "inverse": {"type": "string", "description": "Name of the relationship in the target that is this one seen from there."},
                "mapping": {
                  "type": "object",
                  "minProperties": 1,
                  "additionalProperties": {"type": "string"},
                  "description": "Which attributes are equal: {\"attribute here\": \"attribute of the target\"}. One end suffices where there is an inverse."
                },
                "documentation": {"$ref": "#/definitions/documentation"}
              }
            },
            "synchronizationParameter": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name", "type"],
              "properties": {
                "name": {"$ref": "#/definitions/parameterName"},
                "type": {"$ref": "#/definitions/type"},
                "nullable": {"$ref": "#/definitions/nullable"},
                "default": {"$ref": "#/definitions/default"},
                "personalizationKey": {"type": "string", "description": "The personalization key whose value is taken over the parameter's own."},
                "userAttribute": {"type": "string", "minLength": 1, "description": "The attribute of the user, on the server, that alone gives the parameter its values; clients do not choose it. Format 2."},
                "attribute": {"type": "string", "description": "Beside userAttribute: the attribute that has the parameter's value in every row of the load. Format 2."}
              }
            },
            "parameter": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name", "type"],
              "properties": {
                "name": {"$ref": "#/definitions/parameterName"},
                "type": {"$ref": "#/definitions/type"},
                "nullable": {"$ref": "#/definitions/nullable"},
                "default": {"$ref": "#/definitions/default"}
              }
            },
            "operationParameter": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name", "type"],
              "properties": {
                "name": {"$ref": "#/definitions/parameterName"},
                "type": {"$ref": "#/definitions/type"},
                "nullable": {"$ref": "#/definitions/nullable"},
                "length": {"type": "integer", "minimum": 1, "description": "Characters of a string, bytes of a binary."},
                "precision": {"type": "integer", "minimum": 1, "maximum": 38, "default": 18, "description": "Digits of a decimal altogether."},
                "scale": {"type": "integer", "minimum": 0, "maximum": 38, "default": 2, "description": "Digits of a decimal after the point."},
                "default": {"$ref": "#/definitions/default"},
                "attribute": {"type": "string", "description": "The attribute that fills the parameter; without it, callers give the value."}
              }
            },
            "query": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name", "sql"],
              "properties": {
                "name": {"$ref": "#/definitions/memberName", "description": "Name of the generated finder."},
                "documentation": {"$ref": "#/definitions/documentation"},
                "parameters": {"type": "array", "items": {"$ref": "#/definitions/parameter"}},
                "single": {"type": "boolean", "default": false, "description": "One object or none, in place of a list."},
                "sql": {
                  "type": "string",
                  "pattern": "^\\s*[Ss][Ee][Ll][Ee][Cc][Tt]\\s",
                  "description": "SELECT x.* FROM Object x ... with the model's names; parameters are written as :name."
                }
              }
            },
            "operation": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name", "kind"],
              "properties": {
                "name": {"$ref": "#/definitions/memberName"},
                "kind": {"enum": ["create", "update", "delete", "other"]},
                "documentation": {"$ref": "#/definitions/documentation"},
                "parameters": {
                  "type": "array",
                  "items": {"$ref": "#/definitions/operationParameter"},
                  "description": "Values that are not attributes of the object, or have another name than the attribute that fills them."
                },
                "statements": {
                  "type": "array",
                  "items": {"type": "string", "minLength": 1},
                  "description": "SQL for the back end, in one transaction: :name is an attribute or parameter, :old.name the value before the change."
                }
              }
            },
            "binding": {
              "type": "object",
              "additionalProperties": false,
              "required": ["backEnd", "table"],
              "properties": {
                "backEnd": {"type": "string", "description": "Name of a back end of the model."},
                "table": {"type": "string", "minLength": 1, "description": "The table; any name that SQL allows."},
                "columns": {
                  "type": "object",
                  "additionalProperties": {"type": "string", "minLength": 1},
                  "description": "Columns of attributes that have another name there: {\"attribute\": \"column\"}."
                },
                "load": {"type": "string", "description": "A SELECT whose result carries the columns by name; synchronization parameters are written as :name. Without it, the whole table."},
                "changeDetection": {
                  "anyOf": [{"enum": ["digest", "triggerLog"]}, {"$ref": "#/definitions/changeDetection"}],
                  "default": "digest",
                  "description": "digest compares sums of rows; a version column grows with each change of a row; triggerLog reads keys that triggers have logged (format 2)."
                }
              }
            },
            "changeDetection": {
              "type": "object",
              "additionalProperties": false,
              "minProperties": 1,
              "maxProperties": 1,
              "properties": {
                "versionColumn": {"type": "string", "minLength": 1},
                "triggerLog": {
                  "type": "array",
                  "items": {"type": "string", "minLength": 1},
                  "description": "The tables that the load statement reads besides the object's own."
                }
              }
            }
          }
        }

        """#
}
