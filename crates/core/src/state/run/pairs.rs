//! Maps whose keys are not text, kept as lists of pairs.

use imbl::OrdMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(in crate::state) fn serialize<K, V, S>(map: &OrdMap<K, V>, serializer: S) -> Result<S::Ok, S::Error>
where
    K: Serialize + Ord + Clone,
    V: Serialize + Clone,
    S: Serializer,
{
    serializer.collect_seq(map.iter())
}

pub(in crate::state) fn deserialize<'de, K, V, D>(deserializer: D) -> Result<OrdMap<K, V>, D::Error>
where
    K: Deserialize<'de> + Ord + Clone,
    V: Deserialize<'de> + Clone,
    D: Deserializer<'de>,
{
    Ok(Vec::<(K, V)>::deserialize(deserializer)?.into_iter().collect())
}
