//! Maps whose keys are no text, saved as lists of pairs.

use imbl::OrdMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes a map as pairs.
pub(super) fn serialize<K, V, S>(map: &OrdMap<K, V>, serializer: S) -> Result<S::Ok, S::Error>
where
    K: Ord + Serialize,
    V: Serialize,
    S: Serializer,
{
    serializer.collect_seq(map.iter())
}

/// Reads a map from pairs.
pub(super) fn deserialize<'de, K, V, D>(deserializer: D) -> Result<OrdMap<K, V>, D::Error>
where
    K: Ord + Clone + Deserialize<'de>,
    V: Clone + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Ok(Vec::<(K, V)>::deserialize(deserializer)?.into_iter().collect())
}
