//! A table of rows of one type as a Parquet file, column by column, without Arrow.

use crate::ColumnarError;
use crate::origin::Origin;
use model::Counter;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};
use std::io::Write;
use std::sync::Arc;

/// Number of rows that are held in memory and encoded at once.
const ROWS_IN_A_GROUP: usize = 65_536;

/// Value of a column in a row. Whole numbers are signed 64-bit integers, as in the run file.
pub(crate) enum Value<R> {
    /// Text, never NULL.
    Text(fn(&R) -> ByteArray),
    /// Text, or NULL.
    MaybeText(fn(&R) -> Option<ByteArray>),
    /// A count, or a time since the start in ns.
    Count(fn(&R) -> u64),
    /// One of the counters, or NULL if it was not counted.
    Counter(fn(&R, Counter) -> Option<u64>, Counter),
    /// Like `Count`, or NULL.
    MaybeCount(fn(&R) -> Option<u64>),
    /// A whole number that may be negative.
    Whole(fn(&R) -> i64),
    /// Like `Whole`, or NULL.
    MaybeWhole(fn(&R) -> Option<i64>),
    /// A number, or NULL.
    MaybeReal(fn(&R) -> Option<f64>),
}

/// A column.
pub(crate) struct Column<R> {
    name: &'static str,
    value: Value<R>,
}

impl<R> Column<R> {
    pub(crate) fn new(name: &'static str, value: Value<R>) -> Self {
        Self { name, value }
    }

    fn is_text(&self) -> bool {
        matches!(self.value, Value::Text(_) | Value::MaybeText(_))
    }

    fn schema(&self) -> Result<Type, ParquetError> {
        let (physical, logical) = match self.value {
            Value::Text(_) | Value::MaybeText(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Value::MaybeReal(_) => (Physical::DOUBLE, None),
            _ => (Physical::INT64, None),
        };
        let repetition = match self.value {
            Value::Text(_) | Value::Count(_) | Value::Whole(_) => Repetition::REQUIRED,
            _ => Repetition::OPTIONAL,
        };
        Type::primitive_type_builder(self.name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
    }

    fn write(&self, rows: &[R], out: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self.value {
            Value::Text(value) => required::<ByteArrayType>(out, rows.iter().map(value)),
            Value::MaybeText(value) => optional::<ByteArrayType>(out, rows.iter().map(value)),
            Value::Count(value) => required::<Int64Type>(out, rows.iter().map(|row| signed(value(row)))),
            Value::Counter(value, counter) => {
                optional::<Int64Type>(out, rows.iter().map(|row| value(row, counter).map(signed)))
            }
            Value::MaybeCount(value) => optional::<Int64Type>(out, rows.iter().map(|row| value(row).map(signed))),
            Value::Whole(value) => required::<Int64Type>(out, rows.iter().map(value)),
            Value::MaybeWhole(value) => optional::<Int64Type>(out, rows.iter().map(value)),
            Value::MaybeReal(value) => optional::<DoubleType>(out, rows.iter().map(value)),
        }
    }
}

/// A count as a signed integer. The run file holds no count above 2^63.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn required<T: DataType>(
    out: &mut SerializedColumnWriter<'_>,
    values: impl Iterator<Item = T::T>,
) -> Result<(), ParquetError> {
    let values: Vec<T::T> = values.collect();
    out.typed::<T>().write_batch(&values, None, None).map(|_| ())
}

fn optional<T: DataType>(
    out: &mut SerializedColumnWriter<'_>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let values: Vec<Option<T::T>> = values.collect();
    let there: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    out.typed::<T>().write_batch(&values, Some(&there), None).map(|_| ())
}

/// A Parquet file that is being written.
pub(crate) struct ParquetTable<R, W: Write + Send> {
    columns: Vec<Column<R>>,
    file: SerializedFileWriter<W>,
}

impl<R, W: Write + Send> ParquetTable<R, W> {
    pub(crate) fn create(
        out: W,
        columns: Vec<Column<R>>,
        origin: &Origin,
        schema: &str,
    ) -> Result<Self, ColumnarError> {
        let fields = columns.iter().map(|column| column.schema().map(Arc::new));
        let root = Type::group_type_builder("triptime")
            .with_fields(fields.collect::<Result<_, _>>()?)
            .build()?;
        let properties = properties(&columns)
            .set_key_value_metadata(Some(origin.metadata(schema)))
            .build();
        let file = SerializedFileWriter::new(out, Arc::new(root), Arc::new(properties))?;
        Ok(Self { columns, file })
    }

    /// Adds rows in groups, whose size limits the memory used.
    pub(crate) fn write(&mut self, rows: &[R]) -> Result<(), ColumnarError> {
        for rows in rows.chunks(ROWS_IN_A_GROUP) {
            let mut group = self.file.next_row_group()?;
            for column in &self.columns {
                let next = group.next_column()?;
                let mut out = next.ok_or_else(|| ParquetError::General("fewer columns than the schema".into()))?;
                column.write(rows, &mut out)?;
                out.close()?;
            }
            group.close()?;
        }
        Ok(())
    }

    /// Writes the end of the file.
    pub(crate) fn close(mut self) -> Result<(), ColumnarError> {
        self.file.finish()?;
        Ok(self.file.inner_mut().flush()?)
    }
}

/// Compresses with Snappy, which every reader supports. Only text columns have a dictionary: almost every duration is
/// unique, so a dictionary of durations would only cost memory.
fn properties<R>(columns: &[Column<R>]) -> WriterPropertiesBuilder {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("triptime ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_dictionary_enabled(false);
    for column in columns.iter().filter(|column| column.is_text()) {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(column.name), true);
    }
    properties
}
