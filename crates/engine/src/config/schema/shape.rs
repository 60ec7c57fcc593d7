//! Derives a schema from how a type deserialises itself.
//!
//! The kernel's types do not know about schemas. But their derived code asks a deserialiser for what it expects: a
//! struct with these keys, one of these words, an integer. A deserialiser that returns the simplest value each time
//! and records the requests obtains the schema.

use schemars::{Schema, SchemaGenerator};
use serde::de::value::{Error, MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value, json};

/// The schema of a type. None of its keys is required.
pub(super) fn shape<T: DeserializeOwned>(generator: &mut SchemaGenerator) -> Schema {
    let mut noted = Value::Bool(true);
    // Deserialising the simplest value may fail; what was recorded until then counts.
    let _ = T::deserialize(SchemaProbe(&mut noted));
    generator.definitions_mut().entry("Amount").or_insert_with(amount);
    generator.definitions_mut().entry("Age").or_insert_with(age);
    Schema::try_from(noted).unwrap_or_default()
}

/// The schema of [`Amount`](secateur::Amount), which deserialises any value.
fn amount() -> Value {
    let text = json!({ "type": "string", "pattern": r"^\s*([0-9]+|[0-9]+(\.[0-9]+)?\s*%)\s*$" });
    number_or("A number of tokens such as 40000, or a share such as \"25%\".", &text)
}

/// The schema of an age, which is recognised by its type name.
fn age() -> Value {
    let never = json!({ "type": "string", "enum": ["never"] });
    number_or("A number of model calls such as 25, or \"never\".", &never)
}

fn number_or(description: &str, other: &Value) -> Value {
    let number = json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX });
    json!({ "description": description, "anyOf": [number, other] })
}

/// Returns the simplest value of each requested type and records the request.
struct SchemaProbe<'n>(&'n mut Value);

macro_rules! answer {
    ($($method:ident => $visit:ident($value:expr), $schema:tt;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            *self.0 = json!($schema);
            visitor.$visit($value)
        }
    )*};
}

impl<'de> Deserializer<'de> for SchemaProbe<'_> {
    type Error = Error;

    answer! {
        deserialize_bool => visit_bool(false), { "type": "boolean" };
        deserialize_i32 => visit_i32(0), { "type": "integer" };
        deserialize_i64 => visit_i64(0), { "type": "integer" };
        deserialize_u32 => visit_u32(0), { "type": "integer", "minimum": 0 };
        deserialize_u64 => visit_u64(0), { "type": "integer", "minimum": 0 };
        deserialize_f64 => visit_f64(0.0), { "type": "number" };
        deserialize_str => visit_borrowed_str(""), { "type": "string" };
        deserialize_string => visit_borrowed_str(""), { "type": "string" };
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let mut item = Value::Bool(true);
        let list = visitor.visit_seq(SeqDeserializer::new([SchemaProbe(&mut item)].into_iter()));
        *self.0 = json!({ "type": "array", "items": item });
        list
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let mut properties: Map<String, Value> =
            fields.iter().map(|key| ((*key).to_owned(), Value::Null)).collect();
        let members = fields.iter().copied().zip(properties.values_mut().map(SchemaProbe));
        let read = visitor.visit_map(MapDeserializer::new(members));
        // Nothing is known about fields after an error.
        properties.retain(|_, schema| !schema.is_null());
        *self.0 = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        read
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = json!({ "type": "string", "enum": variants });
        visitor.visit_enum(StrDeserializer::new(variants.first().copied().unwrap_or_default()))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let mut value = Value::Bool(true);
        let read = visitor.visit_map(MapDeserializer::new([("*", SchemaProbe(&mut value))].into_iter()));
        *self.0 = json!({ "type": "object", "additionalProperties": value });
        read
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        *self.0 = json!({ "$ref": "#/$defs/Amount" });
        visitor.visit_u64(0)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = json!({ "$ref": format!("#/$defs/{name}") });
        visitor.visit_u64(0)
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u8 u16 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct
        identifier ignored_any
    }
}

impl IntoDeserializer<'_> for SchemaProbe<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}
